/**
 * The page's explanations of settings, strategies and metrics, which the glossary reuses.
 *
 * @typedef {{where: string, text: string}} Help `where`: in which part of the page
 */

/** @type {Map<string, Help>} by their names in Python; the scripts that show them add them */
export const helps = new Map();
