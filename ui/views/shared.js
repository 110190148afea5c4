/**
 * What all components use: making elements, showing a token's text, the colour mode, the keys, copying, files.
 *
 * Every token is hostile text, so nothing here or elsewhere writes markup: `make` knows text and attributes only.
 * The files of a component are joined into one function body with Gradio's `element`, `props`, `trigger` and `watch`.
 */

/**
 * An element; the attribute `text` becomes its text, and a function listens: `onclick` to its clicks.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null | undefined | Function>} attributes false, null and undefined
 *   are left out
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === 'text') node.textContent = String(value);
    else if (typeof value === 'function') node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children);
  return node;
}

/** The same of SVG. @param {string} tag @param {Record<string, string | number>} attributes @param {...Node} parts */
function makeSvg(tag, attributes, ...parts) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...parts);
  return node;
}

const ICONS = {
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  copyAll: 'M2.5 3.5h11M2.5 8h11M2.5 12.5h7',
  retry: 'M13.5 8A5.5 5.5 0 1 1 11.6 3.8M13.5 2v3.5H10',
  undo: 'M6 3 2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 0 7H7',
  edit: 'M2.5 13.5l.7-3.2 7.6-7.6 2.5 2.5-7.6 7.6zM9.3 4.2l2.5 2.5',
  previous: 'M10 3 5 8l5 5',
  next: 'M6 3l5 5-5 5',
  remove: 'M4 4l8 8M12 4l-8 8',
};

/**
 * A small button with an icon and a name for tooltips and screen readers.
 * @param {keyof typeof ICONS} icon
 * @param {string} name
 * @param {() => void} onClick
 */
function iconButton(icon, name, onClick) {
  const svg = makeSvg('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, makeSvg('path', { d: ICONS[icon] }));
  const button = make('button', { type: 'button', class: 'at-icon', title: name, 'aria-label': name }, svg);
  button.addEventListener('click', onClick);
  return button;
}

const MARKS = new Map([[' ', '␣'], ['\n', '↵'], ['\r', '␍'], ['\t', '⇥']]);
// What would not be seen, or would turn the text around it: named by its code point.
const UNSEEN = /[\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;
const JOINERS = /^[\u200c\u200d\ufe0e\ufe0f]+$/u;

/**
 * A token's text with its white space visible, as nodes. In the strip the boxes show where a token starts, so the one
 * space before a word is a gap there (`gap`) and no mark.
 * @param {string} text
 * @param {boolean} gap
 * @returns {Node[]}
 */
function visible(text, gap = false) {
  const nodes = [];
  let plain = '';
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(plain));
    plain = '';
  };
  const mark = (sign) => {
    flush();
    nodes.push(make('span', { class: 'at-mark', text: sign }));
  };
  if (/^\p{M}/u.test(text)) plain = '\u25cc'; // a combining mark needs something to stand on
  const characters = [...text];
  characters.forEach((character, place) => {
    const inner = place > 0 && place < characters.length - 1 && character === ' ';
    if (gap && place === 0 && character === ' ' && characters.length > 1 && characters[1] !== ' ') return;
    if (inner && characters[place - 1] !== ' ') plain += ' ';
    else if (MARKS.has(character)) mark(MARKS.get(character));
    else if (UNSEEN.test(character) || JOINERS.test(text)) mark(codePoint(character));
    else plain += character;
  });
  flush();
  return nodes;
}

/** @param {string} text the same as one string, for tooltips and screen readers */
const visibleText = (text) => visible(text).map((node) => node.textContent).join('');

/** @param {string} character */
const codePoint = (character) => 'U+' + character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

/** @param {string} text @param {boolean} gap a token in its box */
const tokenChip = (text, gap = false) => make('span', { class: 'at-chip', dir: 'auto' }, ...visible(text, gap));

/** @param {number} p two decimals, and never a 0 or 100 that is not one */
function percent(p) {
  if (p === 0) return '0\u00a0%';
  if (p < 0.00005) return '<0.01\u00a0%';
  if (p < 1 && p > 0.99995) return '>99.99\u00a0%';
  return (100 * p).toFixed(2) + '\u00a0%';
}

/** With the minus sign that stands on the page everywhere. @param {string} number */
const signed = (number) => number.replaceAll('-', '−');

const counted = new Intl.NumberFormat('en-GB');

const STAGES = {
  dola: 'DoLa', dry: 'DRY', xtc: 'XTC', top_n_sigma: 'top-n-sigma', min_new_tokens: 'minimum length',
  no_repeat_ngram_size: 'n-gram ban',
};

/** @param {string} stage a processor's name as people know it: top-k, repetition penalty */
const stageName = (stage) => STAGES[stage] ?? stage.replace(/_([a-z])$/, '-$1').replaceAll('_', ' ');

/**
 * Eleven shades: the square root gives the small values room, so 1 % and 10 % differ as much as 40 % and 70 %.
 * @param {number} share
 */
const level = (share) => Math.round(10 * Math.sqrt(Math.min(1, Math.max(0, share))));

/** @param {string} key @param {string} fallback */
function remembered(key, fallback) {
  try {
    return localStorage.getItem('attend-' + key) ?? fallback;
  } catch {
    return fallback; // storage may be forbidden, as in a frame
  }
}

/** @param {string} key @param {string} value */
function remember(key, value) {
  try {
    localStorage.setItem('attend-' + key, value);
  } catch {
    // then it holds until the page is left
  }
}

/** @param {any} value as views.py packs it; a component that was changed by gr.update sends it as it is */
const unpacked = (value) => (typeof value === 'string' ? JSON.parse(value) : value);

/** What the components tell each other; a cancelled `select` means that it was done. */
const SIGNAL = {
  select: 'attend:select', selected: 'attend:selected', colour: 'attend:colour',
  panel: 'attend:panel', panelAsked: 'attend:panel-asked', // what of the settings beside the text holds for every card
};

/** @param {string} name @param {object} detail @returns {boolean} whether somebody dealt with it */
const signal = (name, detail) => !window.dispatchEvent(new CustomEvent(name, { cancelable: true, detail }));

/** @param {string} name @param {(event: CustomEvent) => void} handler it goes when the component does */
function listen(name, handler) {
  const heard = (event) => {
    if (element.isConnected) handler(event);
    else window.removeEventListener(name, heard);
  };
  window.addEventListener(name, heard);
}

/** @param {HTMLElement} root takes the colour mode now and whenever it changes */
function followColour(root) {
  root.dataset.colour = remembered('colour', 'probability');
  listen(SIGNAL.colour, (event) => {
    root.dataset.colour = event.detail.mode;
  });
}

/** @param {() => void} handler called whenever the page turns dark or light, which its body's class tells */
function whenThemed(handler) {
  new MutationObserver(handler).observe(document.body, { attributes: true, attributeFilter: ['class'] });
}

/**
 * Put text on the clipboard; where the page may not, through a text area.
 * @param {string} text
 * @param {HTMLElement} button says "Copied" for a moment
 */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make('textarea', { class: 'at-hidden' });
    area.value = text;
    button.after(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    button.focus();
  }
  button.parentElement.querySelector('.at-copied')?.remove();
  const told = make('span', { class: 'at-copied', role: 'status', text: 'Copied' });
  button.after(told);
  setTimeout(() => told.remove(), 1500);
}

/**
 * Where a key leads along a row.
 * @param {string} key
 * @param {number} here
 * @param {number} count
 * @returns {number | null} the place it leads to, which may be outside; null for any other key
 */
const alongRow = (key, here, count) =>
  ({ ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: count - 1 })[key] ?? null;

/** Where a key leads on a plane, as steps to the right and down. @param {string} key @returns {[number, number] | null} */
const onPlane = (key) =>
  ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] })[key] ?? null;

/** @param {string} key of a button or what acts as one */
const presses = (key) => key === 'Enter' || key === ' ';

/**
 * Walk with the keys over elements of which one at a time can be reached by Tab, and open the one that has the focus.
 * @param {KeyboardEvent} event
 * @param {HTMLElement[]} items
 * @param {(item: HTMLElement) => void} open
 */
function walkRow(event, items, open) {
  const here = items.indexOf(document.activeElement);
  const goal = alongRow(event.key, here, items.length);
  if (here < 0 || (goal === null && !presses(event.key))) return;
  event.preventDefault();
  if (goal === null) open(items[here]);
  else if (items[goal]) {
    items[here].tabIndex = -1;
    items[goal].tabIndex = 0;
    items[goal].focus();
  }
}

/** Hand a file to the browser; none is left on the server. @param {string} name @param {string} content */
function download(name, content) {
  const type = name.endsWith('.json') ? 'application/json' : 'text/csv;charset=utf-8';
  const address = URL.createObjectURL(new Blob([content], { type }));
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
