/**
 * The lesson's frame: the list of chapters, the one that is open, and who asked what. Its event: 'ask'.
 *
 * @typedef {{chapter: string, number: number, said: string, result: any}} Value
 */

const root = element.querySelector('.attend-lesson');
const ORDER = ['tokens', 'vocabulary', 'vectors', 'positions', 'attention', 'block', 'training', 'sentences'];
const offered = ORDER.filter((key) => key in chapters);
/** @type {Map<string, ReturnType<typeof openChapter>>} those that were opened, by their keys */
const opened = new Map();
let asked = 0;

const list = make('nav', { class: 'at-lesson-list', 'aria-label': 'Chapters' });
const body = make('div', { class: 'at-lesson-body' });
root.append(list, body);
const buttons = offered.map((key, place) => {
  const button = make('button', { type: 'button', onclick: () => show(key) },
    make('span', { class: 'at-lesson-number', text: place + 1 }), make('span', { text: chapters[key].title }));
  list.append(button);
  return button;
});
watch('value', receive);
// Nothing is computed for those who never look.
const seen = new IntersectionObserver((entries) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  seen.disconnect();
  const last = remembered('chapter', offered[0]);
  show(offered.includes(last) ? last : offered[0]);
});
seen.observe(root);

/** @param {string} key */
function show(key) {
  remember('chapter', key);
  if (!opened.has(key)) opened.set(key, openChapter(key));
  opened.forEach(({ node }, other) => {
    node.hidden = other !== key;
  });
  offered.forEach((other, place) => {
    if (other === key) buttons[place].setAttribute('aria-current', 'page');
    else buttons[place].removeAttribute('aria-current');
  });
}

/** @param {string} key */
function openChapter(key) {
  const refused = make('p', { class: 'at-lesson-refused', role: 'alert', hidden: true });
  const waits = make('p', { class: 'at-quiet at-lesson-waits', role: 'status' });
  const inside = make('div', { class: `at-lesson-inside at-lesson-${key}` });
  const node = make('section', { class: 'at-lesson-chapter', 'aria-label': chapters[key].title },
    make('div', { class: 'at-lesson-top' }, make('h2', { text: chapters[key].title }), waits), refused, inside);
  body.append(node);
  let latest = 0;
  let patience = 0;
  const ask = (given) => {
    latest = ++asked;
    clearTimeout(patience);
    patience = setTimeout(() => {
      waits.textContent = 'Computing …';
    }, 300);
    trigger('ask', { chapter: key, number: latest, given });
  };
  const draw = chapters[key].build(inside, ask);
  /** @param {Value} value */
  const answered = ({ number, said, result }) => {
    if (number !== latest) return; // something else has been asked since
    clearTimeout(patience);
    waits.textContent = '';
    refused.textContent = said;
    refused.hidden = !said;
    if (result) draw(result);
  };
  return { node, answered };
}

function receive() {
  if (!props.value) return;
  const value = /** @type {Value} */ (unpacked(props.value));
  opened.get(value.chapter)?.answered(value);
}
