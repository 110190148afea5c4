/**
 * Light or dark where there is no Gradio, which chooses on its own page.
 */

/** The page is dark where the visitor's system is. */
export function followSystemTheme() {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.body.classList.toggle('dark', system.matches);
  apply();
  system.addEventListener('change', apply);
}
