/**
 * The steps of the tour: what each points at, and its text.
 *
 * @typedef {{targets: string[], title: string, text: string, wanted?: string}} Step `targets` are selectors. A step points at the
 *   last visible element that the first successful one finds, and is left out if none finds any. `wanted`: what else the bubble
 *   covers only if it must, where that is not `WANTED`
 */

export const WANTED = '.at-recorded .at-turn, .at-examples, #attend-message, #attend-send, #attend-write-tools, #attend-translate-tools';

/** @type {Step[]} */
export const STEPS = [
  {
    targets: ['.attend-conversation .at-assistant .at-bubble', '.attend-inspector .at-strip'],
    title: 'Every token was a choice',
    text: 'The model wrote this one token at a time: a word, or part of one. Blue tokens were likely, orange ones a surprise. '
      + 'Click any token to see how it was chosen.',
  },
  {
    targets: ['.at-table-pane'],
    title: 'What it could have said',
    text: 'The ten most probable tokens at that point. In your own chats, click a row to use that token instead.',
  },
  {
    targets: ['.at-reason'],
    title: 'Why this token',
    text: 'Some decoding methods take the most probable token; others draw one at random, often after a filter. Here you see '
      + 'what decided.',
  },
  {
    targets: ['.at-map-pane'],
    title: 'Where the model looked',
    text: 'One row per generated token. The more a square stands out, the more the model attended to that earlier token.',
  },
  {
    targets: ['#attend-method', '#attend-open-settings'],
    title: 'Change how it chooses',
    text: 'Choose a decoding method in the settings and move its sliders. The next answer uses them.',
    wanted: '#attend-presets, .attend-settings .at-field, #attend-preview',
  },
  {
    targets: ['#attend-message', '#attend-text', '#attend-given', '.at-ask-text'],
    title: 'Your turn',
    text: 'Write something, then click any token that the model writes.',
  },
];
