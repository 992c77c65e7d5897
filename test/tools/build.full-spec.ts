import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  bringUpToDate,
  builtFiles,
  isUpToDate,
  type Target,
} from '../../tools/build/bring-up-to-date.mjs';
import { revisionOf } from '../../tools/build/revision.mjs';

const ONE_DAY_MS = 86_400_000;
const TOOL = join(import.meta.dirname, '../../tools/build/bring-up-to-date.mjs');

let root: string;
let target: Target;

const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
};
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const inDist = (): string[] =>
  readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .sort();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gatehouse-build-'));
  write('package.json', '{}');
  write('src/deep/a.ts', 'one');
  target = {
    root,
    name: 'programs',
    inputs: ['src', 'package.json'],
    // Writes files as the linker does: a program, and a part whose name holds the hash of its
    // content.
    build: async ({ work }) => {
      const text = read('src/deep/a.ts');
      mkdirSync(join(work, 'bin'));
      writeFileSync(join(work, 'bin', `part-${text}.js`), text);
      writeFileSync(join(work, 'bin/server.js'), `import part-${text}.js`);
    },
  };
});

describe(isUpToDate.name, () => {
  beforeEach(async () => {
    expect(isUpToDate(target)).toBe(false);
    expect(await bringUpToDate(target)).toBe(true);
  });

  it('is true after a build, which is not repeated', async () => {
    expect(isUpToDate(target)).toBe(true);
    expect(await bringUpToDate(target)).toBe(false);
    expect(await bringUpToDate(target, { isForced: true })).toBe(true);
  });

  it.each<[string, () => void]>([
    ['a file changes', () => write('package.json', '{"version":1}')],
    ['a file is added', () => write('src/b.ts', '')],
    ['a file is removed', () => rmSync(join(root, 'src/deep/a.ts'))],
    ['a file moves', () => renameSync(join(root, 'src/deep/a.ts'), join(root, 'src/a.ts'))],
    [
      'an older file takes its place',
      () => {
        write('src/deep/a.ts', 'two');
        utimesSync(join(root, 'src/deep/a.ts'), 10, 10);
      },
    ],
    ['a built file is gone', () => rmSync(join(root, 'dist/bin/server.js'))],
  ])('is false once %s', (_what, change) => {
    change();
    expect(isUpToDate(target)).toBe(false);
  });

  it.each<[string, () => void]>([
    ['a spec changes', () => write('src/deep/a.spec.ts', 'it')],
    ['a file is written again as it was', () => write('src/deep/a.ts', 'one')],
  ])('stays true where only %s', (_what, change) => {
    change();
    expect(isUpToDate(target)).toBe(true);
  });
});

describe(bringUpToDate.name, () => {
  it('keeps the files of a program that still runs for a day', async () => {
    await bringUpToDate(target, { now: 0 });
    write('src/deep/a.ts', 'two');
    await bringUpToDate(target, { now: 1000 });
    expect(inDist()).toEqual(['bin/part-one.js', 'bin/part-two.js', 'bin/server.js']);
    expect(builtFiles(root, 'programs')).toEqual(['bin/part-two.js', 'bin/server.js']);
    expect(read('dist/bin/server.js')).toBe('import part-two.js');
    write('src/deep/a.ts', 'three');
    await bringUpToDate(target, { now: 1000 + ONE_DAY_MS });
    expect(inDist()).toEqual(['bin/part-three.js', 'bin/part-two.js', 'bin/server.js']);
  });

  it('removes old files at once where the folder is packed', async () => {
    await bringUpToDate({ ...target, keptMs: 0 });
    write('src/deep/a.ts', 'two');
    await bringUpToDate({ ...target, keptMs: 0 });
    expect(inDist()).toEqual(['bin/part-two.js', 'bin/server.js']);
  });

  it('leaves everything unchanged when the build fails, and tries again', async () => {
    await bringUpToDate(target);
    write('src/deep/a.ts', 'two');
    const build = async ({ work }: { readonly work: string }): Promise<void> => {
      writeFileSync(join(work, 'half.js'), '');
      return Promise.reject(new Error('a mistake'));
    };
    await expect(bringUpToDate({ ...target, build })).rejects.toThrow('a mistake');
    expect(inDist()).toEqual(['bin/part-one.js', 'bin/server.js']);
    expect(await bringUpToDate(target)).toBe(true);
  });

  it('builds again when a source changed during the build', async () => {
    const build = async (folders: Parameters<Target['build']>[0]): Promise<void> => {
      await target.build(folders);
      write('src/deep/a.ts', 'two');
    };
    await bringUpToDate({ ...target, build });
    expect(isUpToDate(target)).toBe(false);
  });
});

describe('simultaneous processes', () => {
  /** A process that builds the target if it is stale, and prints if it did. */
  const script = (build: string): string[] => [
    ...['--input-type=module', '--eval'],
    `import { appendFileSync, writeFileSync } from 'node:fs';
     import { bringUpToDate } from ${JSON.stringify(TOOL)};
     const root = ${JSON.stringify(root)};
     const build = async ({ work }) => { ${build} };
     console.log(await bringUpToDate({ root, name: 'programs', inputs: ['src'], build }));`,
  ];
  const BUILD = `writeFileSync(work + '/server.js', ''); await new Promise((done) => setTimeout(done, 100));`;

  it('builds only once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => promisify(execFile)(process.execPath, script(BUILD))),
    );
    const built = answers.filter(({ stdout }) => stdout === 'true\n');
    expect([built.length, answers.length]).toEqual([1, 8]);
    expect(existsSync(join(root, 'dist/server.js'))).toBe(true);
  });

  it('does not wait for a process that was killed', async () => {
    const hanging = spawn(
      process.execPath,
      script(
        `console.log('building'); await new Promise((_, fail) => setInterval(() => fail, 1000));`,
      ),
    );
    await once(hanging.stdout, 'data');
    const next = promisify(execFile)(process.execPath, script(BUILD));
    hanging.kill('SIGKILL');
    expect((await next).stdout).toBe('true\n');
    // The process was killed before the others started.
    write('src/deep/a.ts', 'two');
    expect(await bringUpToDate({ ...target, inputs: ['src'] })).toBe(true);
  });
});

describe(revisionOf.name, () => {
  const HEAD = '349a57aaab662a37dce1709878f0b72515f6f306';

  it('returns the commit of the checkout', async () => {
    const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: root });
    await git('init', '--quiet');
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    await git(...identity, 'commit', '--quiet', '--allow-empty', '--message', 'first');
    const { stdout } = await git('rev-parse', 'HEAD');
    expect(revisionOf(root, undefined)).toBe(stdout.slice(0, 12));
  });

  it.each([
    ['the given commit', HEAD, HEAD.slice(0, 12)],
    ['unknown for another text', 'main', 'unknown'],
    ['unknown outside a checkout', '', 'unknown'],
  ])('returns %s', (_what, given, expected) => {
    expect(revisionOf(root, given)).toBe(expected);
  });
});
