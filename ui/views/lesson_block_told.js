/**
 * How a number of the walk came about, written out with numbers, and which cells it came from.
 *
 * @typedef {(number | null)[][]} BlockMatrix
 * @typedef {{name: string, how: string, of: string[], values: any[], rows: string[], columns: string[]}} BlockStage
 * @typedef {{row: number, column: number, head: number}} BlockPlace
 * @typedef {{of: BlockMatrix[], heads: number, place: BlockPlace, stage: BlockStage, given: any}} BlockMade `of`: what the
 *   stage was made from, of the same head where those have heads
 * @typedef {{text: string, from: ((place: BlockPlace) => boolean)[]}} BlockTold `from`: which cells of each of those
 */

const BLOCK_WIDTH = 6;

/** A stage's matrices, one where it has no heads. @param {BlockStage} stage @returns {BlockMatrix[]} */
const blockMatrices = (stage) => (Array.isArray(stage.values[0][0]) ? stage.values : [stage.values]);

const blockColumn = (matrix, column) => matrix.map((row) => row[column]);
const blockShort = (number) => matrixNumber(number, 2);

/** What is asked of a cell: whether it is in this row, in this column, of this head; what is not named may be any. */
const blockIn = (wanted) => (place) => Object.entries(wanted).every(([axis, value]) => place[axis] === value);

/** What each operation of lesson/walk.py is told as. @type {Record<string, (made: BlockMade) => BlockTold>} */
const BLOCK_HOW = {
  given: ({ place: { row, column }, stage }) => {
    if (!stage.name.endsWith('.positions')) return { text: 'a weight, learned and not computed', from: [] };
    const wave = column % 2 ? 'cos' : 'sin';
    return { text: `${wave}(${row} / 10000^(${column - (column % 2)}/${BLOCK_WIDTH}))`, from: [] };
  },
  look_up: ({ place: { row, column }, stage, given }) => {
    const ids = stage.name.startsWith('encoder') ? given.source : [0, ...given.answer.slice(0, -1)];
    return { text: `number ${column} in row ${ids[row]} of the embedding matrix, times √${BLOCK_WIDTH}`, from: [] };
  },
  add: ({ of: [a, b], place: { row, column } }) => ({
    text: `${blockShort(a[row][column])} + ${toldFactor(b[row][column])}`,
    from: [blockIn({ row, column }), blockIn({ row, column })],
  }),
  product: ({ of: [a, b, bias], place: { row, column } }) => ({
    text: toldProducts(a[row], blockColumn(b, column)) + (bias ? ` + ${toldFactor(bias[0][column])}` : ''),
    from: [blockIn({ row }), blockIn({ column }), blockIn({ column })],
  }),
  heads: ({ of: [a, b], heads, place: { row, column, head } }) => {
    const within = head * (BLOCK_WIDTH / heads) + column;
    const text = toldProducts(a[row], blockColumn(b, within));
    return { text, from: [blockIn({ row }), blockIn({ column: within })] };
  },
  scores: ({ of: [a, b], place: { row, column, head } }) => ({
    text: toldProducts(a[row], b[column]),
    from: [blockIn({ head, row }), blockIn({ head, row: column })],
  }),
  scale: ({ of: [a], heads, place }) => ({
    text: `${blockShort(a[place.row][place.column])} / √${BLOCK_WIDTH / heads}`,
    from: [blockIn(place)],
  }),
  mask: ({ of: [a], place, stage: { rows, columns } }) => ({
    text: place.column > place.row
      ? `“${columns[place.column]}” comes after “${rows[place.row]}”, which may not look at it: `
        + `${blockShort(a[place.row][place.column])} is hidden`
      : `“${rows[place.row]}” may look at “${columns[place.column]}”: as it was`,
    from: [blockIn(place)],
  }),
  softmax: ({ of: [a], place: { row, column, head } }) => {
    const powers = a[row].map((one) => `e^${toldFactor(one)}`);
    return { text: `${powers[column]} / (${powers.join(' + ')})`, from: [blockIn({ head, row })] };
  },
  mix: ({ of: [a, b], place: { row, column, head } }) => ({
    text: toldProducts(a[row], blockColumn(b, column)),
    from: [blockIn({ head, row }), blockIn({ head, column })],
  }),
  join: ({ heads, place: { row, column } }) => {
    const width = BLOCK_WIDTH / heads;
    const [head, within] = [Math.floor(column / width), column % width];
    const text = heads === 1 ? 'as it was: there is one head' : `number ${within} of head ${head + 1}`;
    return { text, from: [blockIn({ row, column: within, head })] };
  },
  spread: ({ of: [a], place: { row, column } }) => {
    const mean = a[row].reduce((sum, one) => sum + one) / a[row].length;
    const text = column === 0
      ? a[row].map(toldFactor).join(' + ')
      : a[row].map((one) => `(${blockShort(one)} − ${toldFactor(mean)})²`).join(' + ');
    return { text: `${column === 0 ? '' : '√'}[${text}] / ${a[row].length}`, from: [blockIn({ row })] };
  },
  norm: ({ of: [a, spread], place: { row, column } }) => ({
    text: `(${blockShort(a[row][column])} − ${toldFactor(spread[row][0])}) / ${blockShort(spread[row][1])}`,
    from: [blockIn({ row, column }), blockIn({ row })],
  }),
  relu: ({ of: [a], place: { row, column } }) => ({
    text: `the larger of 0 and ${blockShort(a[row][column])}`,
    from: [blockIn({ row, column })],
  }),
  loss: ({ of: [a], place: { row }, stage, given }) => ({
    text: `−ln ${a[row][given.answer[row]].toFixed(3)}, the probability of “${stage.rows[row]}”`,
    from: [blockIn({ row, column: given.answer[row] })],
  }),
};

/**
 * @param {BlockStage} stage
 * @param {BlockPlace} place
 * @param {(name: string) => BlockStage} stageOf
 * @param {any} given what the walk was asked for
 * @returns {BlockTold}
 */
function blockTold(stage, place, stageOf, given) {
  const all = stage.of.map((name) => blockMatrices(stageOf(name)));
  const of = all.map((matrices) => matrices[Math.min(place.head, matrices.length - 1)]);
  return BLOCK_HOW[stage.how]({ of, heads: given.heads, place, stage, given });
}
