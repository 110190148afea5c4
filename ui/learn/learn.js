/**
 * The course's frame: the list of chapters, the open one, and its questions. Its event: 'ask'.
 */

/** @import { LessonValue } from './learn_contract' */

import { partOf, takePart, whenMoved, writeParts } from '../kit/address/address.js';
import { ALL, termLink } from '../glossary/term_link.js';
import { find, make, makeButton } from '../kit/js/dom.js';
import { Questions } from '../kit/js/questions.js';
import { shownTab } from '../kit/js/signals.js';
import { remember, remembered } from '../kit/js/storage.js';
import { unpacked } from '../kit/js/values.js';
import { chapterView } from './chapter_view.js';
import { CHAPTERS } from './course.js';
import { isInput, parsedInput } from './input.js';
import { mapView } from './map/map.js';
import { solvedCount } from './exercises/progress.js';

const MAP = 'map'; // stands before the chapters

/** @param {import('../kit/js/gradio').Component} component */
export function start({ element, props, trigger, watch }) {
  const root = find(element, '.attend-lesson');
  Object.assign(CHAPTERS, unpacked(props.chapters));
  const [words, forms] = [unpacked(props.map), unpacked(props.forms)];
  const chapters = Object.keys(CHAPTERS);
  const offered = [MAP, ...chapters];
  /** @type {Map<string, {node: HTMLElement}>} those that were opened, by their keys */
  const opened = new Map();
  /** @type {ReturnType<typeof mapView> | undefined} */
  let map;
  const questions = new Questions(trigger);

  const list = make('nav', { class: 'at-lesson-list at-stack at-gap-2xs', 'aria-label': 'Chapters' });
  const body = make('div', { class: 'at-lesson-body' }, codeSwitch(root));
  root.append(list, body);
  const buttons = offered.map((key, index) => {
    const button = make('button', { type: 'button', class: 'at-option at-row at-top', onclick: () => go(key) },
      make('span', { class: 'at-lesson-number at-fixed at-quiet', text: index || '' }), make('span', { text: CHAPTERS[key]?.title ?? 'Map' }),
      make('span', { class: 'at-lesson-solved at-end at-quiet' }));
    list.append(button);
    return button;
  });
  list.append(termLink(ALL, 'Glossary'));
  chapters.forEach(showProgress);
  watch('value', receive);
  takePart('chapter', (key) => offered.includes(key));
  takePart('numbers', isInput);
  shownTab.subscribe(root, follow); // nothing is computed until the lesson is in sight
  whenMoved(() => {
    if (partOf('chapter') && shownTab.latest === 'Learn') follow('Learn'); // from another tab, the switch says so
  });

  /** The address says which chapter is open while the lesson is in sight. @param {string} tab */
  function follow(tab) {
    if (tab !== 'Learn') return writeParts({ chapter: null, numbers: null });
    const key = [partOf('chapter'), remembered('chapter', '')].find((named) => offered.includes(named)) ?? chapters[0];
    show(key);
    writeParts({ chapter: key });
  }

  /** @param {string} key */
  function go(key) {
    show(key);
    writeParts({ chapter: key, numbers: null }, { isNew: true });
  }

  /** From within a chapter. @param {string} key */
  function goTo(key) {
    go(key);
    find(body, 'section:not([hidden]) h2').focus();
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
    const link = buttons[offered.indexOf(key)]; // on a phone the list is one line, which scrolls
    list.scrollTo({ left: link.offsetLeft - list.offsetLeft - (list.clientWidth - link.clientWidth) / 2 });
  }

  /** @param {string} key */
  function openChapter(key) {
    const input = parsedInput(partOf('chapter') === key ? partOf('numbers') : null);
    if (key === MAP) {
      map = mapView({ input, words, questions, openChapter: goTo });
      body.append(map.node);
      return map;
    }
    const view = chapterView({
      key, chapter: CHAPTERS[key], input, questions, onSolved: () => showProgress(key), forms,
      openMap(part, form) {
        goTo(MAP);
        map?.pick(part, form);
      },
    });
    view.node.append(neighbours(key));
    body.append(view.node);
    return view;
  }

  /** How many exercises of a chapter are solved, in the list. @param {string} key */
  function showProgress(key) {
    const solved = solvedCount(key);
    const mark = find(buttons[offered.indexOf(key)], '.at-lesson-solved');
    mark.textContent = solved ? `✓ ${solved}` : '';
    mark.title = solved ? `${solved} ${solved === 1 ? 'exercise' : 'exercises'} solved` : '';
  }

  /** Links to the previous and next chapter. @param {string} key */
  function neighbours(key) {
    const index = chapters.indexOf(key);
    const link = (other, text) => makeButton(text, () => goTo(other));
    const [before, after] = [chapters[index - 1], chapters[index + 1]];
    return make('nav', { class: 'at-lesson-neighbours at-row at-wrap', 'aria-label': 'Previous and next chapter' },
      ...(before ? [link(before, `← ${CHAPTERS[before].title}`)] : []),
      ...(after ? [link(after, `${CHAPTERS[after].title} →`)] : []));
  }

  function receive() {
    if (props.value) questions.settle(/** @type {LessonValue} */ (unpacked(props.value)));
  }
}

/** Shows the references to code in all chapters, or hides them. @param {HTMLElement} root */
function codeSwitch(root) {
  const box = make('input', { type: 'checkbox', checked: remembered('code', '') === 'shown', onchange: show });
  function show() {
    root.toggleAttribute('data-code', box.checked);
    remember('code', box.checked ? 'shown' : '');
  }
  root.toggleAttribute('data-code', box.checked);
  return make('label', { class: 'at-lesson-field at-code-switch' }, box, make('span', { text: 'Show code' }));
}
