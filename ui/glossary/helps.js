/**
 * What the page says elsewhere about a setting, a strategy or a number, so that the glossary need not say it again.
 *
 * @typedef {{where: string, text: string}} Help `where`: in which part of the page
 */

/** @type {Map<string, Help>} by the names that Python has for them; told by those who show them */
export const helps = new Map();
