/**
 * Run documents in and out of a shared file: one HTML page that shows a run without a server (ui/share/).
 */

const PLACE = '{document}';
// A document's “<” is escaped, so the first one ends it; nothing of a stranger's page is parsed as HTML.
const DOCUMENT = /<script\b[^<>]*\bid="attend-document"[^<>]*>([^<]*)</;

/** @type {Promise<string> | null} */
let template = null;

/** A run document as a shared file; it is made here, and nothing is sent. @param {string} json */
export async function sharedFile(json) {
  template ??= fetch(new URL('attend-shared-page', document.baseURI)).then((response) => {
    if (!response.ok) throw new Error(response.statusText);
    return response.text();
  });
  const page = await template.catch(() => {
    template = null; // the next click tries again
    throw new Error('The server can’t be reached, so the page could not be made: try again.');
  });
  return page.replace(PLACE, () => json.trim().replaceAll('<', '\\u003c')); // a function: in a text, $& has a meaning
}

/** The run document of a shared file, as JSON; any other text as it is. @param {string} text */
export function documentIn(text) {
  if (!/^\s*<!doctype html/i.test(text)) return text;
  return DOCUMENT.exec(text)?.[1] ?? text;
}
