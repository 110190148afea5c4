/**
 * The page's explanations of settings, strategies and metrics, which the glossary reuses.
 *
 * @typedef {{where: string, text: string}} Help `where`: in which part of the page
 */

/** @type {Map<string, Help>} by the names that Python has for them; told by those who show them */
export const helps = new Map();
