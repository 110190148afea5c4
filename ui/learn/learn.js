/**
 * The lesson's frame: the list of chapters, the open one, and its questions. Its event: 'ask'.
 */

/** @import { LessonValue } from './contract' */

import { partOf, takePart, whenMoved, writeParts } from '../kit/address/address.js';
import { find, make } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { shownTab } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { unpacked } from '../kit/js/values.js';

/**
 * In the order in which they are read. A chapter's script is fetched when it is opened.
 * @type {Record<string, {title: string, load: () => Promise<{build: import('./lesson.js').Build}>}>}
 */
const CHAPTERS = {
  tokens: { title: 'Tokens, side by side', load: () => import('./tokens/chapter.js') },
  vocabulary: { title: 'A vocabulary of your own', load: () => import('./vocabulary/chapter.js') },
  vectors: { title: 'Words as vectors', load: () => import('./vectors/chapter.js') },
  positions: { title: 'Positions', load: () => import('./positions/chapter.js') },
  attention: { title: 'Attention by hand', load: () => import('./attention/chapter.js') },
  block: { title: 'A block by hand', load: () => import('./block/chapter.js') },
  training: { title: 'One training step', load: () => import('./training/chapter.js') },
  sentences: { title: 'Attention in real sentences', load: () => import('./sentences/chapter.js') },
};

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-lesson');
  const first = unpacked(props.form);
  const offered = Object.keys(CHAPTERS);
  /** @type {Map<string, ReturnType<typeof openChapter>>} those that were opened, by their keys */
  const opened = new Map();
  const questions = new Questions(trigger);

  const list = make('nav', { class: 'at-lesson-list', 'aria-label': 'Chapters' });
  const body = make('div', { class: 'at-lesson-body' });
  root.append(list, body);
  const buttons = offered.map((key, index) => {
    const button = make('button', { type: 'button', onclick: () => go(key) },
      make('span', { class: 'at-lesson-number', text: index + 1 }), make('span', { text: CHAPTERS[key].title }));
    list.append(button);
    return button;
  });
  watch('value', receive);
  takePart('chapter', (key) => offered.includes(key));
  shownTab.subscribe(root, follow); // nothing is computed until the lesson is in sight
  whenMoved(() => {
    if (partOf('chapter') && document.body.dataset.tab === 'Learn') follow('Learn'); // from another tab, the switch says so
  });

  /** The address says which chapter is open while the lesson is in sight. @param {string} tab */
  function follow(tab) {
    if (tab !== 'Learn') return writeParts({ chapter: null });
    const key = [partOf('chapter'), remembered('chapter', '')].find((named) => offered.includes(named)) ?? offered[0];
    show(key);
    writeParts({ chapter: key });
  }

  /** @param {string} key */
  function go(key) {
    show(key);
    writeParts({ chapter: key }, { isNew: true });
  }

  /** @param {string} key */
  function show(key) {
    remember('chapter', key);
    if (!opened.has(key)) opened.set(key, openChapter(key));
    opened.forEach(({ node }, other) => {
      node.hidden = other !== key;
    });
    offered.forEach((other, index) => {
      if (other === key) buttons[index].setAttribute('aria-current', 'page');
      else buttons[index].removeAttribute('aria-current');
    });
  }

  /** @param {string} key */
  function openChapter(key) {
    const refused = make('p', { class: 'at-lesson-refused', role: 'alert', hidden: true });
    const waits = make('p', { class: 'at-quiet at-lesson-waits', role: 'status' });
    const inside = make('div', { class: `at-lesson-inside at-lesson-${key}` });
    const node = make('section', { class: 'at-lesson-chapter', 'aria-label': CHAPTERS[key].title },
      make('div', { class: 'at-lesson-top' }, make('h2', { text: CHAPTERS[key].title, tabindex: -1 }), waits), refused, inside, neighbours(key));
    body.append(node);
    let latest = 0;
    let patience = 0;
    const ask = (given) => {
      questions.drop(latest);
      clearTimeout(patience);
      patience = setTimeout(() => {
        waits.textContent = 'Computing …';
      }, 300);
      latest = questions.ask('ask', { chapter: key, given }, answered);
    };
    /** @type {ReturnType<import('./lesson.js').Build>} draws a result */
    let draw;
    CHAPTERS[key].load().then(({ build }) => {
      draw = build(inside, ask, first[key]);
    }, () => refuse('This chapter couldn’t be loaded: check the connection, then reload the page.'));
    /** @param {LessonValue} value which holds neither a result nor a refusal where something went wrong */
    function answered({ error, result }) {
      clearTimeout(patience);
      waits.textContent = '';
      refuse(error);
      if (result) draw(result);
    }
    /** @param {string} error empty where nothing is wrong */
    function refuse(error) {
      refused.textContent = error;
      refused.hidden = !error;
    }
    return { node };
  }

  /** Links to the previous and next chapter. @param {string} key */
  function neighbours(key) {
    const index = offered.indexOf(key);
    const link = (other, text) => make('button', {
      type: 'button', class: 'at-plain', text, onclick: () => {
        go(other);
        find(body, 'section:not([hidden]) h2').focus();
      },
    });
    const [before, after] = [offered[index - 1], offered[index + 1]];
    return make('nav', { class: 'at-lesson-neighbours', 'aria-label': 'Previous and next chapter' },
      ...(before ? [link(before, `← ${CHAPTERS[before].title}`)] : []),
      ...(after ? [link(after, `${CHAPTERS[after].title} →`)] : []));
  }

  function receive() {
    if (props.value) questions.settle(/** @type {LessonValue} */ (unpacked(props.value)));
  }
}
