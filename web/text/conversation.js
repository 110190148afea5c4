/**
 * Conversations as token ids, the oldest messages left out where they don't fit:
 *
 *     <s> <user> Hi! <end> <assistant> Hello! How are you? <end> <user> … <end> <assistant>
 */

/** @typedef {import('./tokenizer.js').Tokenizer} Tokenizer */
/** @typedef {{role: 'user' | 'assistant', content: string}} Message */

/**
 * The prompt for the next answer. It begins with a message of the user's, and the last message always stays.
 * @param {Tokenizer} tokenizer
 * @param {Message[]} messages
 * @param {number} contextLength
 * @param {number} reserve how many tokens the answer may need; it gets at most half of the context
 * @returns {{ids: number[], dropped: number}} and how many messages did not fit
 */
export function chatPrompt(tokenizer, messages, contextLength, reserve) {
  if (!messages.at(-1)?.content.trim()) throw new Error('The message is empty: type something first.');
  const [begin, end, user, assistant] = ['<s>', '<end>', '<user>', '<assistant>'].map((name) => tokenizer.specialToken(name));
  const turns = messages.map(({ role, content }) => [role === 'user' ? user : assistant, ...tokenizer.encode(content), end]);
  const idsFrom = (first) => [begin, ...turns.slice(first).flat(), assistant];
  const last = messages.length - 1, alone = idsFrom(last).length;
  if (alone > contextLength) {
    throw new Error(`The message has ${alone - 2} tokens, but this model's context holds ${contextLength - 2}: shorten it.`);
  }
  // The last token of an answer is never read, so it needs no room.
  const room = Math.min(contextLength, contextLength + 1 - Math.min(reserve, Math.floor(contextLength / 2)));
  const begins = messages.flatMap(({ role }, index) => (role === 'user' && index < last ? [index] : []));
  const dropped = begins.find((first) => idsFrom(first).length <= room) ?? last;
  return { ids: idsFrom(dropped), dropped };
}
