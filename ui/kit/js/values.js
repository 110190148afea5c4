/**
 * Values from the server.
 */

/** @param {any} value as ui/kit/packing.py packs it; a component that was changed by gr.update sends it as it is */
export const unpacked = (value) => (typeof value === 'string' ? JSON.parse(value) : value);
