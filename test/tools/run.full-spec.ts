import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { specFiles, TIERS, tiersOf } from '../jest/tiers.mjs';

const ROOT = join(import.meta.dirname, '../..');
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const RUN = join(import.meta.dirname, '../run.mjs');
const ALL = [
  ...['check:format', 'check:lint', 'check:types', 'specs:unit', 'build:tests'],
  ...['check:lint:typed', 'check:types:full', 'specs:embedded', 'specs:full'],
];

/** Lists the specs of projects of Jest. */
function specsOf(...projects: string[]): string[] {
  const { stdout } = spawnSync(
    process.execPath,
    [JEST, '--listTests', '--selectProjects', ...projects],
    { cwd: ROOT, env: { PATH: process.env['PATH'] }, encoding: 'utf8' },
  );
  const paths = stdout.split('\n').filter((path) => path.endsWith('spec.ts'));
  return paths.map((path) => relative(ROOT, path)).sort();
}

describe('the tiers', () => {
  it('puts every spec file in exactly one tier', () => {
    const files = specFiles().sort();
    expect(files.filter((path) => tiersOf(path).length !== 1)).toEqual([]);
    const core = files.filter((path) => tiersOf(path).includes('core'));
    expect(specsOf('unit', 'core')).toEqual(core);
    const more = files.filter((path) => tiersOf(path).includes('full'));
    const run = specsOf('unit', 'full', 'embedded');
    expect(run).toEqual([...core, ...more].sort());
    const nightly = files.filter((path) => tiersOf(path).includes('nightly'));
    expect(specsOf('nightly')).toEqual(nightly);
    expect(Object.keys(TIERS)).toEqual(['core', 'full', 'nightly']);
  });
});

describe('npm run test:full', () => {
  let bin: string;

  beforeEach(() => {
    bin = mkdtempSync(join(tmpdir(), 'gatehouse-run-'));
    ['initdb', 'redis-server'].forEach((name) => program(name, 'exit 0'));
  });

  function program(name: string, script: string): void {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }

  /** Runs it where these npm scripts fail. */
  function runWith(failing: readonly string[], tier = 'full') {
    const calls = join(bin, 'calls');
    writeFileSync(calls, '');
    const cases = failing.map((name) => `${name}) exit 3;;`).join(' ');
    program('npm', `echo "$2" >> ${calls}\ncase "$2" in ${cases} esac`);
    const { status, stdout } = spawnSync(process.execPath, [RUN, tier], {
      env: { PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin` },
      encoding: 'utf8',
    });
    const [, summary = '', others = ''] =
      /Summary\n([^]*)Not run here:\n([^]*)$/.exec(stdout) ?? [];
    const ran = readFileSync(calls, 'utf8').trim().split('\n');
    return {
      status,
      ran: ran.sort(),
      others: others.trim().split('\n'),
      outcomes: Object.fromEntries(
        summary
          .trimEnd()
          .split('\n')
          .map((line) => [line.slice(0, 19).trim(), line.slice(19).replace(/ \(\d+ s\)$/, '')]),
      ) as Record<string, string>,
    };
  }

  const passed = Object.fromEntries(ALL.map((part) => [part, 'passed']));

  it('runs every part, and exits with 0 where all passed', () => {
    expect(runWith([])).toMatchObject({ status: 0, ran: [...ALL].sort(), outcomes: passed });
  });

  it.each(['check:format', 'specs:unit', 'specs:embedded'])(
    'runs the parts after a failed %s, reports it, and exits with 1',
    (part) => {
      expect(runWith([part])).toMatchObject({
        status: 1,
        ran: [...ALL].sort(),
        outcomes: { ...passed, [part]: 'FAILED' },
      });
    },
  );

  it('runs nothing on a build that failed, and says so', () => {
    const { status, ran, outcomes } = runWith(['build:tests']);
    expect(status).toBe(1);
    expect(ran).toEqual(ALL.slice(0, 7).sort());
    const notRun = 'NOT RUN: the build failed';
    expect(outcomes).toMatchObject({
      ...{ 'build:tests': 'FAILED', 'specs:embedded': notRun, 'specs:full': notRun },
    });
  });

  it('runs the core alone for npm test, and lists the other tiers', () => {
    const { status, ran, others } = runWith([], 'core');
    expect(status).toBe(0);
    expect(ran).toEqual([...ALL.slice(0, 5), 'specs:core'].sort());
    expect(others).toEqual([
      expect.stringMatching(/^npm run test:full +\d+ spec files: /),
      expect.stringMatching(/^ *npm run test:nightly +\d+ spec files: /),
    ]);
  });
});
