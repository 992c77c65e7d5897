import fc from 'fast-check';

export type Factors = Readonly<Record<string, readonly string[]>>;
export type Row = Readonly<Record<string, string>>;

const CANDIDATES = 5;

/**
 * Returns rows in which every combination of the values of any three factors occurs. Greedy: each
 * row is the one of some random ones that adds most. The same seed makes the same rows.
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
  const combinations = combinationsOf(factors);
  const missing = new Set(
    fc.sample(values, { seed, numRuns: 2000 }).flatMap((row) => combinations(row)),
  );
  const adds: Gain = (row, factor) =>
    combinations(row, factor).reduce((sum, one) => sum + Number(missing.has(one)), 0);
  const rows: Row[] = [];
  for (let round = 0; missing.size > 0; round += 1) {
    const candidates = fc
      .sample(values, { seed: seed + round, numRuns: CANDIDATES })
      .map((one) => improved(one, factors, isPossible, adds));
    const row = mostOf(candidates, adds);
    if (adds(row) > 0) {
      rows.push(row);
      combinations(row).forEach((one) => missing.delete(one));
    }
  }
  return rows;
}

/** Counts the missing combinations of a row; with a factor, only those that contain it. */
type Gain = (row: Row, factor?: string) => number;

function improved(row: Row, factors: Factors, isPossible: (row: Row) => boolean, adds: Gain): Row {
  return Object.entries(factors).reduce((best, [name, values]) => {
    const others = values.map((value) => ({ ...best, [name]: value })).filter(isPossible);
    // The rows differ in this factor only.
    return mostOf([best, ...others], (one) => adds(one, name));
  }, row);
}

function mostOf(rows: readonly Row[], adds: (row: Row) => number): Row {
  const gains = rows.map((row) => adds(row));
  return rows[gains.indexOf(Math.max(...gains))] ?? {};
}

function combinationsOf(factors: Factors): (row: Row, factor?: string) => number[] {
  const names = Object.keys(factors);
  const levels = Object.entries(factors).flatMap(([name, values]) =>
    values.map((value) => `${name}=${value}`),
  );
  const numbers = new Map(levels.map((level, at) => [level, at + 1]));
  const base = levels.length + 1;
  const all = names.flatMap((_, first) =>
    names.flatMap((__, next) =>
      names.flatMap((___, last) => (first < next && next < last ? [[first, next, last]] : [])),
    ),
  );
  const byFactor = new Map(names.map((name, at) => [name, all.filter((one) => one.includes(at))]));
  return (row, factor) => {
    const own = names.map((name) => numbers.get(`${name}=${row[name]}`) ?? 0);
    const chosen = factor === undefined ? all : (byFactor.get(factor) ?? []);
    return chosen.map((places) => places.reduce((sum, at) => sum * base + (own[at] ?? 0), 0));
  };
}
