import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
const RUN = join(import.meta.dirname, '../run.mjs');
const ALL = [
  ...['check:format', 'check:lint', 'check:types', 'test:unit'],
  ...['build:tests', 'test:embedded', 'test:postgres'],
];
const CHECKED = { GATEHOUSE_TEST_CHECKED: '1' };

/** Lists the specs of all parts on PostgreSQL. */
function specsOf(env: Readonly<Record<string, string>>): string[] {
  const { stdout } = spawnSync(process.execPath, [JEST, '--listTests'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], GATEHOUSE_TEST_DATABASE: 'postgres', ...env },
    encoding: 'utf8',
  });
  const paths = stdout.split('\n').filter((path) => path !== '');
  return paths.map((path) => relative(ROOT, path)).sort();
}

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

  /** Has specs fail in these files of a part, and pass when they run alone, or not. */
  function failOnce(part: string, files: readonly string[], passesAgain: boolean): string {
    const testResults = [
      ...files.map((name) => ({ name: join(process.cwd(), name), status: 'failed' })),
      { name: join(process.cwd(), 'passes.spec.ts'), status: 'passed' },
    ];
    writeFileSync(join(bin, 'results.json'), JSON.stringify({ testResults }));
    return `if [ "$2" = ${part} ]; then
      case "$*" in *--runTestsByPath*) echo "$*" | sed 's/.*ByPath/again/' >> ${join(bin, 'calls')}; exit ${passesAgain ? 0 : 1};; esac
      for option; do case "$option" in --outputFile=*) cp ${join(bin, 'results.json')} "\${option#*=}";; esac; done
      exit 1
    fi`;
  }

  /** Runs it where these npm scripts fail. */
  function runWith(
    failing: readonly string[],
    env: Readonly<Record<string, string>> = {},
    script = '',
  ) {
    const calls = join(bin, 'calls');
    writeFileSync(calls, '');
    const cases = failing.map((name) => `${name}) exit 3;;`).join(' ');
    program('npm', `echo "$2" >> ${calls}\ncase "$2" in ${cases} esac\n${script}`);
    const { status, stdout } = spawnSync(process.execPath, [RUN], {
      env: { PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`, ...env },
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

  it('runs every part, and exits with 0 where all passed', () => {
    expect(runWith([])).toEqual({ status: 0, ran: [...ALL].sort(), outcomes: passed });
  });

  it.each(['check:format', 'test:unit', 'test:embedded'])(
    'runs the parts after a failed %s, reports it, and exits with 1',
    (part) => {
      expect(runWith([part])).toEqual({
        status: 1,
        ran: [...ALL].sort(),
        outcomes: { ...passed, [part]: 'FAILED' },
      });
    },
  );

  it('runs specs that failed once more, and names them where they pass', () => {
    const files = ['test/a.e2e-spec.ts', 'test/b.e2e-spec.ts'];
    const { status, ran, outcomes } = runWith([], {}, failOnce('test:postgres', files, true));
    expect(status).toBe(0);
    expect(outcomes['test:postgres']).toBe(
      `passed, but these FAILED once and passed when they ran again: ${files.join(', ')}`,
    );
    const paths = files.map((file) => join(process.cwd(), file)).join(' ');
    expect(ran.filter((call) => call.startsWith('again'))).toEqual([`again ${paths}`]);
    expect(outcomes['test:embedded']).toBe('passed');
  });

  it('fails where specs fail when they run again', () => {
    const script = failOnce('test:unit', ['src/a.spec.ts'], false);
    expect(runWith([], {}, script)).toMatchObject({
      status: 1,
      outcomes: { 'test:unit': 'FAILED', 'test:postgres': 'passed' },
    });
  });

  it.each<{ files: number; env: Record<string, string> }>([
    { files: 3, env: {} },
    { files: 1, env: { GATEHOUSE_TEST_ONCE: '1' } },
  ])('runs no spec again where $files files failed with $env', ({ files, env }) => {
    const names = Array.from({ length: files }, (_, index) => `test/${index}.e2e-spec.ts`);
    const { status, ran } = runWith([], env, failOnce('test:postgres', names, true));
    expect(status).toBe(1);
    expect(ran.filter((call) => call.startsWith('again'))).toEqual([]);
  });

  it('leaves out format, lint and types where they are checked already', () => {
    const parts = ALL.slice(3);
    expect(runWith([], CHECKED)).toEqual({
      status: 0,
      ran: [...parts].sort(),
      outcomes: Object.fromEntries(parts.map((part) => [part, 'passed'])),
    });
  });

  it('leaves out specs that are the same on any Node where they ran already, and no others', () => {
    const all = specsOf({});
    const remaining = specsOf(CHECKED);
    const leftOut = all.filter((path) => !remaining.includes(path));
    const same =
      /^(proof|src\/(admin|policy|storage\/repositories)|test\/(architecture|chart|docker|docs|tools|e2e\/(web|admin|features|offboarding|scim)))\//;
    expect(leftOut).toEqual(expect.arrayContaining(all.filter((path) => same.test(path))));
    const own =
      /^(src\/(cli|client|common|guard|notify|protocol|x509)|test\/e2e\/(health|packages|updates)|test\/e2e\/(auth\/(?!vouched-sessions)|cli\/(cli|devices|hostile-server|key)\.|http\/(?!abuse|arbitrary-input)|notify\/(inputs|notify|proxy|spool|walk-through|web-push)\.))/;
    expect(leftOut.filter((path) => own.test(path) || path.includes('.both.'))).toEqual([]);
  });

  it('runs the specs of both kinds of database on one of them where they ran already', () => {
    const ofBoth = (database: string) =>
      specsOf({ ...CHECKED, GATEHOUSE_TEST_BOTH: '1', GATEHOUSE_TEST_DATABASE: database }).filter(
        (path) => path.includes('.both.'),
      );
    expect(ofBoth('embedded')).toEqual(specsOf({}).filter((path) => path.includes('.both.')));
    expect(ofBoth('postgres')).toEqual([]);
  });

  it('runs nothing on a build that failed, and says so', () => {
    const { status, ran, outcomes } = runWith(['build:tests']);
    expect(status).toBe(1);
    expect(ran).toEqual(ALL.slice(0, 5).sort());
    const notRun = 'NOT RUN: the build failed';
    expect(outcomes).toMatchObject({
      ...{ 'build:tests': 'FAILED', 'test:embedded': notRun, 'test:postgres': notRun },
    });
  });
});
