/**
 * The styles of the components, which arrive beside the scripts.
 */

const findLink = () => /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel="stylesheet"][href*="attend/"]'));

/** Whether the styles hold. */
export const isStyled = () => Boolean(findLink()?.sheet);

/** Fulfilled when the styles hold: for those who measure, or paint in their colours. */
export async function stylesheet() {
  const link = findLink();
  if (!link || link.sheet) return;
  await new Promise((done) => {
    link.addEventListener('load', done);
    link.addEventListener('error', done); // rather without styles than without the page
  });
}
