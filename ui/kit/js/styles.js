/**
 * The styles of the components, which are fetched together with the scripts.
 */

const findLink = () => /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel="stylesheet"][href*="attend/"]'));

/** Whether the styles have been loaded. */
export const isStyled = () => Boolean(findLink()?.sheet);

/** Resolves when the styles have been loaded, for scripts that measure the page or paint in its colours. */
export async function stylesheet() {
  const link = findLink();
  if (!link || link.sheet) return;
  await new Promise((done) => {
    link.addEventListener('load', done);
    link.addEventListener('error', done); // a page without styles is better than none
  });
}
