/** What Gradio gives the script of a `gr.HTML`; `ui/kit/assets.py` hands it to a module's `start`. */
export interface Component {
  element: HTMLElement;
  /** `value` is the newest value; the others are what Python gave the component at first. */
  props: Record<string, any>;
  /** Sends an event to the server. */
  trigger: (event: string, data?: object) => void;
  /** Calls back after a prop was changed by the server. */
  watch: (prop: string, changed: () => void) => void;
}
