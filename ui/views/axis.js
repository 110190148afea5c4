/**
 * An axis of the map: the tokens of its rows or columns, as many as there is room for, beside what is shown of the map.
 */

const AXIS = { rows: 62, columns: 58, apart: 12, letters: 8 }; // pixels, pixels between two names, and of a name

/** @param {'rows' | 'columns'} way */
function makeAxis(way) {
  const node = make('canvas', { class: `at-axis at-axis-${way}`, 'aria-hidden': 'true' });
  const upright = way === 'columns';

  /**
   * @param {{count: number, size: number, offset: number, length: number, marked: number, colour: string,
   *   name: (place: number) => string}} about how many cells of which size, scrolled by how much, on how long an axis
   */
  function draw({ count, size, offset, length, marked, colour, name }) {
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = upright ? [length, AXIS.columns] : [AXIS.rows, length];
    const [across, down] = [Math.round(wide * ratio), Math.round(high * ratio)];
    if (node.width !== across || node.height !== down) {
      Object.assign(node, { width: across, height: down });
      Object.assign(node.style, { width: `${wide}px`, height: `${high}px` });
    }
    const context = node.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, high);
    Object.assign(context, { fillStyle: colour, textAlign: 'right', textBaseline: 'middle' });
    const every = Math.ceil(AXIS.apart / size);
    const first = Math.max(0, Math.floor(offset / size));
    const end = Math.min(count, Math.ceil((offset + length) / size));
    for (let place = first; place < end; place += 1) {
      const near = marked >= 0 && place !== marked && Math.abs(place - marked) < every;
      if (place !== marked && (place % every || near)) continue;
      const middle = (place + 0.5) * size - offset;
      if (middle < 4 || middle > length - 4) continue;
      context.font = `${place === marked ? 600 : 400} 10.5px ui-sans-serif, system-ui, sans-serif`;
      context.globalAlpha = place === marked ? 1 : 0.72;
      context.save();
      context.translate(...(upright ? [middle, 4] : [AXIS.rows - 5, middle]));
      if (upright) context.rotate(-Math.PI / 2);
      context.fillText(short(name(place)), 0, 0);
      context.restore();
    }
  }

  return { node, draw };
}

/** @param {string} name */
function short(name) {
  const letters = [...name];
  return letters.length > AXIS.letters ? `${letters.slice(0, AXIS.letters - 1).join('')}…` : name;
}
