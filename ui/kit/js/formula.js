/**
 * Formulas as MathML, which browsers set by themselves, from a notation that is legible as plain text:
 *
 *   x_i, W_Q, 10000^(2i/d)   below and above the line; the brackets around an exponent are left out
 *   {a / b}                  a fraction; braces without a slash group
 *   √d, √{a + b}             a root
 *
 * Characters such as ² and ₁ stand for ^2 and _1; two spaces set two formulas apart.
 *
 * @typedef {{tag: string, text?: string, children?: MathNode[], isPrefix?: boolean, isTall?: boolean}} MathNode an element of
 *   MathML; `isTall`: a bracket around a fraction
 */

const RAISED = { signs: '⁰¹²³⁴⁵⁶⁷⁸⁹⁻ˣᵀᵗ', plain: '0123456789−xTt' };
const LOWERED = { signs: '₀₁₂₃₄₅₆₇₈₉ᵢⱼ', plain: '0123456789ij' };
const CLOSING = { '(': ')', '[': ']', '{': '}' };
const TOKEN = { // the pieces of a formula, each matched at its beginning
  mn: /^\d+(?:\.\d+)?/u,
  mi: /^(?:[A-Za-z]{2,}(?:-[A-Za-z]+)*|(?!Σ)[\p{Lu}\p{Ll}]\p{M}*)′?/u,
  mtext: /^ +/u,
  mo: /^./u,
};
const AROUND_OPERATORS = /(?<! ) ?([=+−·/,≥≤←→⊙≈]) ?(?! )/gu; // MathML has its own spaces there
const BRACKETS = /^[()[\]|]$/u;
const NAMESPACE = 'http://www.w3.org/1998/Math/MathML';

/**
 * @param {string} written
 * @param {boolean} [isInline] within a line of text, where fractions are small
 * @returns {Element}
 */
export function formula(written, isInline = false) {
  const math = document.createElementNS(NAMESPACE, 'math');
  if (!isInline) math.setAttribute('displaystyle', 'true');
  math.append(...parseFormula(written).map(element));
  return math;
}

/** One of the page's own texts, whose formulas stand between dollar signs. @param {string} text @returns {(string | Element)[]} */
export const withFormulas = (text) => text.split('$').map((part, index) => (index % 2 ? formula(part, true) : part));

/** @param {MathNode} node @returns {Element} */
function element({ tag, text = '', children = [], isPrefix = false, isTall = false }) {
  const node = document.createElementNS(NAMESPACE, tag);
  node.textContent = text;
  if (tag === 'mi') node.setAttribute('mathvariant', 'normal'); // few fonts have Unicode's slanted letters: a style slants these
  if (tag === 'mi' && /^\p{L}\p{M}*′?$/u.test(text)) node.setAttribute('class', 'at-variable');
  if (isPrefix) node.setAttribute('form', 'prefix');
  if (BRACKETS.test(text)) node.setAttribute('stretchy', String(Boolean(isTall)));
  node.append(...children.map(element));
  return node;
}

/** @param {string} written @returns {MathNode[]} */
export function parseFormula(written) {
  let rest = written.replace(AROUND_OPERATORS, '$1');

  /** @param {RegExp | number} what a pattern, or how many characters @returns {string} */
  function take(what) {
    const taken = typeof what === 'number' ? rest.slice(0, what) : (what.exec(rest)?.[0] ?? '');
    rest = rest.slice(taken.length);
    return taken;
  }

  const next = () => /** @type {string | undefined} */ (rest[0]);

  /** Everything up to a closing bracket, or to the end. @param {string} [closing] @returns {MathNode[]} */
  function row(closing) {
    /** @type {MathNode[]} */
    const nodes = [];
    while (next() !== undefined && next() !== closing) {
      const node = scripted();
      const before = nodes.at(-1);
      nodes.push(node.text === '−' && before?.tag === 'mo' ? { ...node, isPrefix: true } : node);
    }
    if (closing) take(1);
    return nodes;
  }

  /** An atom with its subscript and superscript. @returns {MathNode} */
  function scripted() {
    const base = atom();
    const below = script('_', LOWERED);
    const above = script('^', RAISED);
    if (below && above) return { tag: 'msubsup', children: [base, below, above] };
    if (below) return { tag: 'msub', children: [base, below] };
    return above ? { tag: 'msup', children: [base, above] } : base;
  }

  /** @param {string} sign @param {{signs: string, plain: string}} characters @returns {MathNode | null} */
  function script(sign, { signs, plain }) {
    if (rest[0] === sign) {
      take(1);
      return rest[0] === '(' ? group(bracketed()) : atom();
    }
    let content = '';
    while (rest && signs.includes(rest[0])) content += plain[signs.indexOf(take(1))];
    return content ? group(parseFormula(content)) : null;
  }

  /** @returns {MathNode[]} the contents of the bracket that comes next */
  const bracketed = () => row(CLOSING[take(1)]);

  /** @returns {MathNode} */
  function atom() {
    if (rest[0] === '{') return fraction(bracketed());
    if (rest[0] === '√') {
      take(1);
      return { tag: 'msqrt', children: [atom()] };
    }
    if (rest[0] === '(' || rest[0] === '[') {
      const opening = rest[0];
      const inside = bracketed();
      const isTall = inside.some(({ tag }) => tag === 'mfrac');
      return group([{ tag: 'mo', text: opening, isTall }, ...inside, { tag: 'mo', text: CLOSING[opening], isTall }]);
    }
    for (const [tag, pattern] of Object.entries(TOKEN)) {
      const text = take(pattern);
      if (text) return tag === 'mtext' ? { tag, text: text.length > 1 ? '\u2003' : '\u2009' } : { tag, text };
    }
    return { tag: 'mrow' };
  }

  return row();
}

/** @param {MathNode[]} nodes @returns {MathNode} */
const group = (nodes) => (nodes.length === 1 ? nodes[0] : { tag: 'mrow', children: nodes });

/** @param {MathNode[]} nodes a fraction if a slash is among them @returns {MathNode} */
function fraction(nodes) {
  const slash = nodes.findIndex(({ tag, text }) => tag === 'mo' && text === '/');
  return slash < 0 ? group(nodes)
    : { tag: 'mfrac', children: [group(nodes.slice(0, slash)), group(nodes.slice(slash + 1))] };
}
