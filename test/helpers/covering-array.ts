import fc from 'fast-check';

/** The values of each factor. */
export type Factors = Readonly<Record<string, readonly string[]>>;
export type Row = Readonly<Record<string, string>>;

const STRENGTH = 3;
const CANDIDATES = 20;

/**
 * Rows in which every combination of the values of any three factors occurs: a fault that takes up to
 * three settings to show is met. Greedy: each row is the one of some random ones that adds most.
 * The same factors and seed make the same rows.
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
  const rows: Row[] = [];
  for (let round = 0; missing.size > 0; round += 1) {
    const [best] = fc
      .sample(values, { seed: seed + round, numRuns: CANDIDATES })
      .map((row) => ({ row, adds: combinationsOf(row).filter((one) => missing.has(one)).length }))
      .sort((a, b) => b.adds - a.adds);
    if (best !== undefined && best.adds > 0) {
      rows.push(best.row);
      combinationsOf(best.row).forEach((one) => missing.delete(one));
    }
  }
  return rows;
}

/** Names every choice of factors with their values in a row by one number. */
function combinations(factors: Factors): (row: Row) => number[] {
  const levels = Object.entries(factors).flatMap(([name, values]) =>
    values.map((value) => `${name}=${value}`),
  );
  const numbers = new Map(levels.map((level, at) => [level, at + 1]));
  return (row) => {
    const own = Object.entries(row).map(([name, value]) => numbers.get(`${name}=${value}`) ?? 0);
    const found: number[] = [];
    const choose = (from: number, count: number, sum: number): void => {
      if (count === STRENGTH) {
        found.push(sum);
        return;
      }
      for (let at = from; at < own.length; at += 1) {
        choose(at + 1, count + 1, sum * (levels.length + 1) + (own[at] ?? 0));
      }
    };
    choose(0, 0, 0);
    return found;
  };
}
