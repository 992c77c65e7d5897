import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTrace } from '../traces/itf.js';
import { writeTraces } from '../traces/traces.mjs';
import { explore } from './explore.mjs';
import { interpret, type Model } from './interpreter.mjs';
import { exploreInstance, SCHEDULES } from './models.mjs';
import { compileModel } from './quint.mjs';

const PAGE = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8');

/** Two counters that must never be equal at 2, and are after four steps. */
const COUNTERS = `module counters {
  pure val NAMES = Set("x", "y")
  var count: str -> int
  action init = count' = NAMES.mapBy(name => 0)
  action step = {
    nondet name = NAMES.oneOf()
    all { count.get(name) < 3, count' = count.setBy(name, value => value + 1) }
  }
  val isEven = NAMES.forall(name => count.get(name) >= 0)
  val areApart = not(NAMES.forall(name => count.get(name) == 2))
  val invariants = and { isEven, areApart }
}`;

describe('the search', () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'gatehouse-search-'));
  });

  const counters = (change: (source: string) => string = (source) => source): Model => {
    const file = join(directory, 'counters.qnt');
    writeFileSync(file, change(COUNTERS));
    return interpret(compileModel(file, 'counters'));
  };

  it('finds the shortest path to a violation', () => {
    const { violation } = explore(counters());
    expect(violation?.invariant).toBe('areApart');
    expect(violation?.path).toHaveLength(5);
    expect(violation?.path.at(-1)).toEqual([{ x: 2, y: 2 }]);
  });

  it('counts each state once, and equal ones of exchanged names once', () => {
    const model = counters((source) => source.replace('== 2', '== 4'));
    expect(explore(model)).toMatchObject({ states: 16, transitions: 24, isComplete: true });
    expect(explore(model, { alike: ['x', 'y'] })).toMatchObject({ states: 10, isComplete: true });
  });

  it('goes no further than it should', () => {
    const found = explore(counters(), { mostSteps: 1 });
    expect(found).toMatchObject({ states: 3, depth: 1, isComplete: false, violation: null });
  });

  it.each(['slice', 'guard', 'grant'] as const)('proves the invariants of %s', (name) => {
    const { states, transitions, isComplete, violation } = exploreInstance(name);
    expect({ isComplete, violation }).toEqual({ isComplete: true, violation: null });
    const [, ...counts] =
      new RegExp(`^\\| \`${name}\` .+\\| ([\\d,]+) +\\| ([\\d,]+) +\\|$`, 'm').exec(PAGE) ?? [];
    expect([states, transitions].map((count) => count.toLocaleString('en'))).toEqual(counts);
  });

  it('takes the steps that Quint itself takes', () => {
    writeTraces({ directory, count: 3, seed: '1' });
    const model = interpret(compileModel(SCHEDULES, 'replayed', 'replay'));
    const successors = model.successors();
    const names = model.variables.map(({ name }) => name);
    for (const index of [0, 1, 2]) {
      const states = readTrace(join(directory, `${index}.itf.json`)).map(({ state }) =>
        names.map((name) => (state as unknown as Record<string, unknown>)[name]),
      );
      states.slice(1).forEach((state, before) => {
        const found: string[] = [];
        successors(states[before] ?? [], (successor) => found.push(sortedJson(successor)));
        expect(found).toContain(sortedJson(state));
      });
    }
  });
});

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : part,
  );
}
