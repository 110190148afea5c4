/**
 * Makes elements. Every token is hostile text, so nothing here or elsewhere writes markup: `make` knows only text and
 * attributes.
 */

/**
 * Makes an element. The attribute `text` becomes its text, and a function becomes a listener, such as `onclick` for clicks.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} attributes false, null
 *   and undefined are left out
 * @param {...(Node | string)} children
 */
export function make(tag, attributes = {}, ...children) {
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

/**
 * A table: a row of headers above the others.
 * @param {Parameters<typeof make>[1]} attributes
 * @param {Node[]} head the cells of its first row
 * @param {Node[]} rows
 * @param {string} caption for screen readers alone; "" for none
 */
export const makeTable = (attributes, head, rows, caption = '') => make('table', attributes,
  ...(caption ? [make('caption', { class: 'at-hidden', text: caption })] : []),
  make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...rows));

/**
 * An element of SVG, made as `make` does.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} parts
 */
export function makeSvg(tag, attributes, ...parts) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...parts);
  return node;
}

/**
 * The closest element around an event's target that matches the selector.
 * @param {Event} event
 * @param {string} selector
 */
export const around = (event, selector) =>
  event.target instanceof Element ? /** @type {HTMLElement | null} */ (event.target.closest(selector)) : null;

/**
 * The first element inside that matches the selector; throws an Error if there is none.
 * @template {HTMLElement} Kind
 * @param {Element} root
 * @param {string} selector
 * @param {new () => Kind} kind such as HTMLInputElement: the type of the result
 * @returns {Kind}
 */
export function find(root, selector, kind = /** @type {any} */ (HTMLElement)) {
  const node = root.querySelector(selector);
  if (node instanceof kind) return node;
  throw new Error(`There is no ${kind.name} ${selector} here.`);
}

/**
 * A button with words.
 * @param {string} text
 * @param {(event: MouseEvent) => void} onclick
 * @param {Parameters<typeof make>[1]} attributes
 */
export const makeButton = (text, onclick, attributes = {}) =>
  make('button', { type: 'button', class: 'at-plain', text, onclick, ...attributes });

const ICONS = {
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  retry: 'M13.5 8A5.5 5.5 0 1 1 11.6 3.8M13.5 2v3.5H10',
  undo: 'M6 3 2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 0 7H7',
  edit: 'M2.5 13.5l.7-3.2 7.6-7.6 2.5 2.5-7.6 7.6zM9.3 4.2l2.5 2.5',
  previous: 'M10 3 5 8l5 5',
  next: 'M6 3l5 5-5 5',
  down: 'M3 6l5 5 5-5',
  remove: 'M4 4l8 8M12 4l-8 8',
  widen: 'M2 8h12M5 5 2 8l3 3M11 5l3 3-3 3',
};

/**
 * A small button with an icon and a name for tooltips and screen readers.
 * @param {keyof typeof ICONS} icon
 * @param {string} name
 * @param {() => void} [onclick]
 */
export function iconButton(icon, name, onclick) {
  const svg = makeSvg('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, makeSvg('path', { d: ICONS[icon] }));
  return make('button', { type: 'button', class: 'at-icon', title: name, 'aria-label': name, onclick }, svg);
}

/**
 * The head of a column or a row of a table. A screen reader skips one without words.
 * @param {'col' | 'row'} scope @param {string} text
 */
export const headCell = (scope, text) => make('th', { scope, text, role: text ? null : 'presentation' });

/**
 * Change an element's text, but only if it differs: screen readers read out what is set, and the browser lays it out.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Put a text into a box as if the visitor had typed it. @param {HTMLTextAreaElement} box @param {string} text */
export function typeInto(box, text) {
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true }));
}

/**
 * Give a canvas its size on the page, and as many pixels as the screen has there, unless it has them already.
 * @param {HTMLCanvasElement} canvas @param {number} wide @param {number} high
 * @returns {number} pixels of the screen for one of the page
 */
export function fitCanvas(canvas, wide, high) {
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(wide * ratio), Math.round(high * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    Object.assign(canvas, { width: across, height: down });
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
  }
  return ratio;
}

/** The first element in sight that matches the selector. @param {string} selector */
export const findVisible = (selector) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector))].find((node) => node.checkVisibility());
