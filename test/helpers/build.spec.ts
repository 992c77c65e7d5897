import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isStale } from './build.js';

const FILES = { inputs: ['src', 'package.json'], outputs: ['dist/a.js', 'dist/web/b.html'] };

describe(isStale.name, () => {
  let root: string;

  const write = (name: string, at: number): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), '');
    utimesSync(join(root, name), at, at);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'gatehouse-build-'));
    write('package.json', 10);
    write('src/deep/in/there.ts', 10);
    write('dist/a.js', 20);
    write('dist/web/b.html', 20);
  });

  afterEach(() => rmSync(root, { recursive: true }));

  it('says no while every output is newer than every input', () => {
    expect(isStale(root, FILES)).toBe(false);
  });

  it('says yes where one output is missing', () => {
    rmSync(join(root, 'dist/web/b.html'));
    expect(isStale(root, FILES)).toBe(true);
  });

  it.each(['package.json', 'src/deep/in/there.ts', 'src/new.ts'])(
    'says yes when %s changed since the oldest output',
    (name) => {
      write('dist/a.js', 40);
      write(name, 30);
      expect(isStale(root, FILES)).toBe(true);
    },
  );

  it('takes no notice of specs', () => {
    write('src/deep/in/there.spec.ts', 30);
    write('src/deep/in/there.db-spec.ts', 30);
    expect(isStale(root, FILES)).toBe(false);
  });
});
