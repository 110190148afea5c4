/**
 * Shows the sign-in page again when the visitor has been signed out, in another tab or by the server.
 */

/** Reload the page, which is then the sign-in page, when a request is refused with 401. */
export function reloadWhenSignedOut() {
  const originalFetch = window.fetch.bind(window);
  window.fetch = async (...args) => {
    const response = await originalFetch(...args);
    if (response.status === 401) location.reload();
    return response;
  };
}
