import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const RUN = join(import.meta.dirname, 'run.mjs');
const ALL = [
  ...['check:format', 'check:lint', 'check:types', 'test:unit'],
  ...['build', 'test:embedded', 'test:postgres'],
];

describe('npm test', () => {
  let bin: string;

  beforeEach(() => {
    bin = mkdtempSync(join(tmpdir(), 'gatehouse-run-'));
    ['initdb', 'redis-server'].forEach((name) => program(name, 'exit 0'));
  });

  afterEach(() => rmSync(bin, { recursive: true }));

  function program(name: string, script: string): void {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }

  /** Runs it where these npm scripts fail. */
  function runWith(failing: readonly string[]) {
    const calls = join(bin, 'calls');
    writeFileSync(calls, '');
    const cases = failing.map((name) => `${name}) exit 3;;`).join(' ');
    program('npm', `echo "$2" >> ${calls}\ncase "$2" in ${cases} esac`);
    const { status, stdout } = spawnSync(process.execPath, [RUN], {
      env: { PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin` },
      encoding: 'utf8',
    });
    const summary = stdout.slice(stdout.indexOf('Summary')).trimEnd().split('\n').slice(1);
    const ran = readFileSync(calls, 'utf8').trim().split('\n');
    return {
      status,
      ran: ran.sort(),
      outcomes: Object.fromEntries(
        summary.map((line) => [
          line.slice(0, 17).trim(),
          line.slice(17).replace(/ \(\d+ s\)$/, ''),
        ]),
      ) as Record<string, string>,
    };
  }

  const passed = Object.fromEntries(ALL.map((part) => [part, 'passed']));

  it('runs every part, and ends with 0 where all passed', () => {
    expect(runWith([])).toEqual({ status: 0, ran: [...ALL].sort(), outcomes: passed });
  });

  it.each(['check:format', 'test:unit', 'test:embedded'])(
    'runs the parts after %s though it failed, says so, and ends with 1',
    (part) => {
      expect(runWith([part])).toEqual({
        status: 1,
        ran: [...ALL].sort(),
        outcomes: { ...passed, [part]: 'FAILED' },
      });
    },
  );

  it('runs nothing on a build that failed, and says so', () => {
    const { status, ran, outcomes } = runWith(['build']);
    expect(status).toBe(1);
    expect(ran).toEqual(ALL.slice(0, 5).sort());
    const notRun = 'NOT RUN: the build failed';
    expect(outcomes).toMatchObject({
      ...{ build: 'FAILED', 'test:embedded': notRun, 'test:postgres': notRun },
    });
  });
});
