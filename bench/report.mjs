/**
 * One line of the table.
 *
 * @typedef {object} Row
 * @property {string} work
 * @property {string} unit       `/s` = the bar is reached from below, any other from above
 * @property {number | null} limit      median of the limit; null where the bar is absolute
 * @property {number} gatehouse  median of Gatehouse
 * @property {number | null} ratio      gatehouse / limit
 * @property {number} least      what must be reached, in ratio, or in `unit` where there is no limit
 * @property {number | null} goal       what is aimed at
 * @property {string} note
 * @property {object} [rounds]   every single measurement
 */

/** Builds a row; what is left out is none. @returns {Row} */
export function row({ limit = null, goal = null, note = '', ...known }) {
  const ratio = limit === null ? null : known.gatehouse / limit;
  return { ...known, limit, ratio, goal, note };
}

/** Builds a row of the medians of rounds. @param {string} [field] of each round that is compared */
export function ratioRow({ rounds, field, ...about }) {
  const [limit, gatehouse] = [rounds.limit, rounds.gatehouse].map((side) => medianOf(side, field));
  return row({ ...about, limit, gatehouse, rounds });
}

/** Builds the row of a p99 without a limit. @param {number[]} times in ms */
export function p99Row({ work, times, ...bars }) {
  const note = `median ${median(times).toFixed(1)} ms`;
  return row({ work, unit: 'ms', gatehouse: quantile(times, 0.99), note, rounds: times, ...bars });
}

/** Measures both sides in turn. @param {() => Promise<T>} limit @param {() => Promise<T>} gatehouse @template T */
export async function inTurn(count, limit, gatehouse) {
  const rounds = { limit: [], gatehouse: [] };
  for (let round = 0; round < count; round += 1) {
    rounds.limit.push(await limit());
    rounds.gatehouse.push(await gatehouse());
  }
  return rounds;
}

/** @param {object[]} rounds @param {string} [field] */
export function medianOf(rounds, field) {
  return median(field === undefined ? rounds : rounds.map((round) => round[field]));
}

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {number[]} values @param {number} share for example 0.99 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** @param {Row[]} rows */
export function rowsTable(rows) {
  const head = ['work', 'limit', 'Gatehouse', 'ratio', 'must reach (goal)', 'reached?', 'note'];
  const lines = rows.map((one) => [
    one.work,
    one.limit === null ? '' : inUnit(one.limit, one.unit),
    inUnit(one.gatehouse, one.unit),
    one.ratio === null ? '' : one.ratio.toFixed(2),
    barOf(one),
    verdict(one),
    one.note,
  ]);
  return markdownTable(head, lines, () => '---');
}

/** @param {Row} row */
function barOf({ unit, limit, least, goal }) {
  const [must, aim] = [least, goal].map((bar) =>
    bar === null || limit !== null ? `${bar}` : inUnit(bar, unit),
  );
  return `${unit === '/s' ? 'at least' : 'at most'} ${must}${goal === null ? '' : ` (${aim})`}`;
}

/** @param {Row} row */
function verdict({ ratio, gatehouse, unit, least, goal }) {
  const value = ratio ?? gatehouse;
  const passes = (bar) => (unit === '/s' ? value >= bar : value <= bar);
  if (goal !== null && passes(goal)) {
    return 'goal';
  }
  return passes(least) ? 'yes' : 'no';
}

/**
 * Figures of the same work at growing sizes.
 *
 * @typedef {object} Growth
 * @property {string} of       what grows
 * @property {number[]} sizes
 * @property {[string, string][]} figures  work and unit of each figure
 * @property {number[][]} measured  the figures of each size
 * @property {string} [note]
 */

/** @param {Growth[]} tables */
export function growthTables(tables) {
  return tables.map(growthTable).join('\n\n');
}

/** @param {Growth} growth */
function growthTable({ of, sizes, figures, measured, note }) {
  const head = [of, ...sizes.map((size) => size.toLocaleString('en')), 'last ÷ first'];
  const lines = figures.map(([work, unit], index) => {
    const values = measured.map((ofSize) => ofSize[index]);
    const factor = values[0] === 0 ? '' : (values.at(-1) / values[0]).toFixed(2);
    return [`${work}, ${unit}`, ...values.map(amount), factor];
  });
  const table = markdownTable(head, lines, (_, index) => (index === 0 ? '---' : '---:'));
  return note === undefined ? table : `${table}\n\n${note}`;
}

/** The sizes up to `most`, which is the last of them where there are more. */
export function sizesUpTo(most, sizes) {
  return [...new Set(sizes.map((size) => Math.min(size, most)))];
}

/** Measures each size after the other. @param {string} what the sizes count */
export async function measureSizes(sizes, what, measure) {
  const measured = [];
  for (const size of sizes) {
    console.error(`  ${size} ${what}`);
    measured.push(await measure(size));
  }
  return measured;
}

/** @param {string[][]} lines @param {(name: string, index: number) => string} rule under each heading */
function markdownTable(head, lines, rule) {
  return [head, head.map(rule), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function inUnit(value, unit) {
  return `${amount(value)} ${unit}`;
}

function amount(value) {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
