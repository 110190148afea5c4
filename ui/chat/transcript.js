/**
 * A conversation as text: Markdown to read, JSON and CSV with the tokens and their probabilities.
 */

/** @import { TurnValue } from '../runs/runs_contract' */

import { csv } from '../kit/js/data.js';

/** @param {TurnValue[]} turns */
export const asMarkdown = (turns) =>
  turns.map(({ role, text }) => `**${role === 'user' ? 'User' : 'Assistant'}**\n\n${text.trim()}\n`).join('\n');

/** Messages as programs send them, each answer with its tokens. @param {TurnValue[]} turns */
export function asJson(turns) {
  const messages = turns.map((turn) => ({
    role: turn.role, content: turn.text, ...(turn.tokens && { tokens: labelled(turn) }),
  }));
  return `${JSON.stringify(messages, null, 2)}\n`;
}

/**
 * A row for each token of an answer, and one for each message of the visitor's; texts are JSON strings, as in all of our CSV.
 * @param {TurnValue[]} turns
 */
export const asCsv = (turns) => csv({
  title: 'Conversation', head: ['message', 'role', 'token', 'text', 'probability'],
  rows: turns.flatMap((turn, index) => turn.tokens
    ? labelled(turn).map(({ text, probability }, number) => [index + 1, turn.role, number + 1, JSON.stringify(text), probability])
    : [[index + 1, turn.role, '', JSON.stringify(turn.text), '']]),
});

/** The tokens of an answer, where one without a text, such as the end token, has its label. @param {TurnValue} turn */
const labelled = ({ tokens }) => tokens.map(({ text, label = '', probability }) => ({ text: text || label, probability }));
