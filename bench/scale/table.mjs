/**
 * Figures of the same work at growing sizes.
 *
 * @typedef {object} Growth
 * @property {string} name     of the group
 * @property {string} of       what grows
 * @property {number[]} sizes
 * @property {{work: string, unit: string, values: number[]}[]} rows  a value a size
 * @property {string} [note]
 */

/** @param {Growth[]} tables */
export function growthTables(tables) {
  return tables.map(growthTable).join('\n\n');
}

/** @param {Growth} growth */
function growthTable({ of, sizes, rows, note }) {
  const head = [of, ...sizes.map((size) => size.toLocaleString('en')), 'last ÷ first'];
  const lines = rows.map(({ work, unit, values }) => [
    `${work}, ${unit}`,
    ...values.map(amount),
    factor(values),
  ]);
  const table = [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  return note === undefined ? table : `${table}\n\n${note}`;
}

/** The sizes up to `most`, which is the last of them where there are more. */
export function sizesUpTo(most, sizes) {
  return [...new Set(sizes.map((size) => Math.min(size, most)))];
}

/** Turns what was measured at each size into rows. @param {[string, string][]} named in order: work and unit */
export function rowsOf(named, measured) {
  return named.map(([work, unit], index) => ({
    work,
    unit,
    values: measured.map((values) => values[index]),
  }));
}

function factor(values) {
  const [first, last] = [values[0], values.at(-1)];
  return first === 0 ? '' : (last / first).toFixed(2);
}

function amount(value) {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
