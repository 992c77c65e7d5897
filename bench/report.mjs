/**
 * One line of the table.
 *
 * @typedef {object} Row
 * @property {string} name       of the group it came from
 * @property {string} work
 * @property {string} unit
 * @property {number | null} limit      median of the limit; null where the bar is absolute
 * @property {number} gatehouse  median of Gatehouse
 * @property {number | null} ratio      gatehouse / limit
 * @property {'at least' | 'at most'} bar
 * @property {number} least      what must be reached, in ratio, or in `unit` where there is no limit
 * @property {number | null} goal       what is aimed at
 * @property {string} [note]
 * @property {object} [rounds]   every single measurement
 */

/** Builds a row, filling in the ratio. @param {Omit<Row, 'ratio'>} row @returns {Row} */
export function row(row) {
  return { ...row, ratio: row.limit === null ? null : row.gatehouse / row.limit };
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {Row[]} rows */
export function markdownTable(rows) {
  const lines = rows.map((row) => [
    row.work,
    row.limit === null ? '' : amount(row.limit, row.unit),
    amount(row.gatehouse, row.unit),
    row.ratio === null ? '' : row.ratio.toFixed(2),
    barWords(row),
    verdict(row),
    row.note ?? '',
  ]);
  const head = ['work', 'limit', 'Gatehouse', 'ratio', 'must reach (goal)', 'reached?', 'note'];
  return [head, head.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** @param {Row} row */
function verdict(row) {
  const value = row.ratio ?? row.gatehouse;
  const passes = (bar) => (row.bar === 'at least' ? value >= bar : value <= bar);
  if (row.goal !== null && passes(row.goal)) {
    return 'goal';
  }
  return passes(row.least) ? 'yes' : 'no';
}

/** @param {Row} row */
function barWords(row) {
  const inUnit = (bar) => (row.limit === null ? amount(bar, row.unit) : `${bar}`);
  const goal = row.goal === null ? '' : ` (${inUnit(row.goal)})`;
  return `${row.bar} ${inUnit(row.least)}${goal}`;
}

function amount(value, unit) {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : 2;
  return `${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`;
}
