/**
 * Values from the server.
 */

/** @param {any} value as ui/kit/packing.py packs it; a component that was changed by gr.update sends it as it is */
export const unpacked = (value) => (typeof value === 'string' ? JSON.parse(value) : value);

/**
 * Hands over a component's value, if it has one, now and whenever the server changes it.
 * @param {Pick<import('./gradio').Component, 'props' | 'watch'>} component
 * @param {(value: any) => void} use
 */
export function followValue({ props, watch }, use) {
  const receive = () => props.value && use(unpacked(props.value));
  watch('value', receive);
  receive();
}
