import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CASES } from './alert-cases.js';
import { helmBinary } from './binaries.js';
import { at, CHART, find, manifestsIn, template, type Json } from './render.js';

const run = promisify(execFile);
const OF_THE_VALUES = 'GatehouseRestarts';

/** Returns true if promtool is installed. In CI its absence is an error. */
function hasPromtool(): boolean {
  const isThere = spawnSync('promtool', ['--version']).status === 0;
  if (!isThere && process.env['CI'] === 'true') {
    throw new Error('These tests need promtool. On Debian: apt-get install prometheus');
  }
  return isThere;
}

const tried = hasPromtool() ? describe : describe.skip;
tried('the alerts of the chart', () => {
  let directory: string;
  let rules: readonly Rule[];
  let messages: ReadonlyMap<string, string>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-alerts-'));
    const { stdout } = await template(await helmBinary(4), join(CHART, 'ci/observed-values.yaml'));
    const spec = find(manifestsIn(stdout), 'PrometheusRule')['spec'] as Json;
    rules = at(spec, 'groups.0.rules') as unknown as typeof rules;
    await writeFile(join(directory, 'rules.yaml'), JSON.stringify(spec));
    messages = await tryAll(directory, rules);
  });

  it('passes the check of Prometheus', async () => {
    const { stdout } = await run('promtool', ['check', 'rules', join(directory, 'rules.yaml')]);
    expect(stdout).toContain('SUCCESS');
  });

  it('has a case below for every alert, firing and silent', () => {
    const own = rules.filter(({ alert }) => alert !== OF_THE_VALUES);
    const names = [...new Set(own.map(({ alert }) => alert))].sort();
    for (const fires of [true, false]) {
      const cases = CASES.filter((one) => one.fires === fires).map(({ alert }) => alert);
      expect([...new Set(cases)].sort()).toEqual(names);
    }
  });

  it('has a section for every alert in docs/runbooks.md', async () => {
    const page = await readFile(join(CHART, '../../docs/runbooks.md'), 'utf8');
    const sections = [...page.matchAll(/^## (\w+)$/gm)].map((match) => match[1] ?? '');
    const own = rules.filter(({ alert }) => alert !== OF_THE_VALUES);
    expect([...sections].sort()).toEqual([...new Set(own.map(({ alert }) => alert))].sort());
    for (const { alert, annotations } of own) {
      expect(annotations['runbook_url']).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
    }
  });

  it.each(CASES.map((one, index) => ({ ...one, file: fileOf(index) })))(
    '$alert: $when, so it fires: $fires',
    ({ file }) => {
      expect(messages.get(file)).toBe('SUCCESS');
    },
  );
});

interface Rule {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}

function fileOf(index: number): string {
  return `case-${index}.yaml`;
}

/** Runs promtool once for all cases, and returns its output by file. */
async function tryAll(
  directory: string,
  rules: readonly Rule[],
): Promise<ReadonlyMap<string, string>> {
  for (const [index, { alert, series, after, fires }] of CASES.entries()) {
    // The rules of other alerts are not needed.
    const own = rules.filter((rule) => rule.alert === alert);
    const groups = [{ name: alert, rules: own }];
    await writeFile(join(directory, `rules-${index}.yaml`), JSON.stringify({ groups }));
    const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0 or vector(0)`;
    const test = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        { expr, eval_time: after, exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }] },
      ],
    };
    const files = { rule_files: [`rules-${index}.yaml`], evaluation_interval: '1m' };
    await writeFile(join(directory, fileOf(index)), JSON.stringify({ ...files, tests: [test] }));
  }
  const files = CASES.map((_case, index) => join(directory, fileOf(index)));
  // One stream keeps each failure below its file.
  const command = ['-c', 'exec promtool test rules "$@" 2>&1', 'promtool', ...files];
  const { stdout } = await run('sh', command, { maxBuffer: 16_777_216 }).catch(
    (error: { stdout: string }) => error,
  );
  const parts = stdout.split(/^Unit Testing: +.*\/(?=case-)/m).slice(1);
  return new Map(
    parts.map((part) => {
      const [file = '', ...lines] = part.trim().split('\n');
      return [file, lines.join('\n').trim()];
    }),
  );
}
