/**
 * The styles of the components, which arrive beside the scripts.
 */

/** Fulfilled when the styles hold: for those who measure, or paint in their colours. */
export async function stylesheet() {
  /** @type {HTMLLinkElement | null} */
  const link = document.querySelector('link[rel="stylesheet"][href*="attend/"]');
  if (!link || link.sheet) return;
  await new Promise((done) => {
    link.addEventListener('load', done);
    link.addEventListener('error', done); // rather without styles than without the page
  });
}
