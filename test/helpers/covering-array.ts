import fc from 'fast-check';

/** The values of each factor. */
export type Factors = Readonly<Record<string, readonly string[]>>;
export type Row = Readonly<Record<string, string>>;

const CANDIDATES = 5;

/**
 * Rows in which every combination of the values of any three factors occurs: a fault that takes up to
 * three settings to show is met. Greedy: each row is the one of some random ones that adds most, with each
 * value changed where that adds more. The same factors and seed make the same rows.
 *
 * @param isPossible whether the values go together; no row has others
 */
export function coveringArray(
  factors: Factors,
  seed: number,
  isPossible: (row: Row) => boolean = () => true,
): Row[] {
  const values = fc
    .record(
      Object.fromEntries(
        Object.entries(factors).map(([name, levels]) => [name, fc.constantFrom(...levels)]),
      ),
    )
    .filter(isPossible);
  const combinationsOf = combinations(factors);
  const missing = new Set(fc.sample(values, { seed, numRuns: 2000 }).flatMap(combinationsOf));
  const adds = (row: Row): number => combinationsOf(row).filter((one) => missing.has(one)).length;
  const rows: Row[] = [];
  for (let round = 0; missing.size > 0; round += 1) {
    const row = fc
      .sample(values, { seed: seed + round, numRuns: CANDIDATES })
      .map((one) => improved(one, factors, isPossible, adds))
      .reduce((best, one) => (adds(one) > adds(best) ? one : best));
    if (adds(row) > 0) {
      rows.push(row);
      combinationsOf(row).forEach((one) => missing.delete(one));
    }
  }
  return rows;
}

/** The row with each value, one after the other, changed to the one with which the row adds most. */
function improved(
  row: Row,
  factors: Factors,
  isPossible: (row: Row) => boolean,
  adds: (row: Row) => number,
): Row {
  return Object.entries(factors).reduce((best, [name, values]) => {
    const others = values.map((value) => ({ ...best, [name]: value })).filter(isPossible);
    return others.reduce((most, one) => (adds(one) > adds(most) ? one : most), best);
  }, row);
}

/** Names every choice of factors with their values in a row by one number. */
function combinations(factors: Factors): (row: Row) => number[] {
  const levels = Object.entries(factors).flatMap(([name, values]) =>
    values.map((value) => `${name}=${value}`),
  );
  const numbers = new Map(levels.map((level, at) => [level, at + 1]));
  const base = levels.length + 1;
  return (row) => {
    const own = Object.entries(row).map(([name, value]) => numbers.get(`${name}=${value}`) ?? 0);
    const found: number[] = [];
    own.forEach((first, at) => {
      for (let next = at + 1; next < own.length; next += 1) {
        const pair = (first * base + (own[next] ?? 0)) * base;
        for (let last = next + 1; last < own.length; last += 1) {
          found.push(pair + (own[last] ?? 0));
        }
      }
    });
    return found;
  };
}
