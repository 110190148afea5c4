/**
 * A conversation as text: Markdown to read, JSON and CSV with the tokens and their probabilities.
 */

/** @import { TurnValue } from '../runs/contract' */

import { csv } from '../kit/js/data.js';

/** @param {TurnValue[]} turns */
export const asMarkdown = (turns) =>
  turns.map(({ role, text }) => `**${role === 'user' ? 'User' : 'Assistant'}**\n\n${text.trim()}\n`).join('\n');

/** Messages as programs send them, each answer with its tokens. @param {TurnValue[]} turns */
export function asJson(turns) {
  const messages = turns.map(({ role, text, tokens }) => ({
    role, content: text, ...(tokens && { tokens: tokens.map(([token, probability]) => ({ text: token, probability })) }),
  }));
  return `${JSON.stringify(messages, null, 2)}\n`;
}

/**
 * A row for each token of an answer, and one for each message of the visitor's; texts are JSON strings, as in all of our CSV.
 * @param {TurnValue[]} turns
 */
export const asCsv = (turns) => csv({
  title: 'Conversation', head: ['message', 'role', 'token', 'text', 'probability'],
  rows: turns.flatMap(({ role, text, tokens }, index) => tokens
    ? tokens.map(([token, probability], number) => [index + 1, role, number + 1, JSON.stringify(token), probability])
    : [[index + 1, role, '', JSON.stringify(text), '']]),
});
