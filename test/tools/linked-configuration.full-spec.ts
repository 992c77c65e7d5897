import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const LINK = join(ROOT, 'test/fixtures/programs/link-specs-program.mjs');
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');

const specs = readdirSync(join(ROOT, 'src/server/config'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('spec.ts'))
  .map((name) => join('src/server/config', name));

const run = (program: string, args: readonly string[]): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [program, ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '' },
    maxBuffer: Infinity,
  });

describe('the linked configuration', () => {
  // Presets are found two folders up, as from the programs.
  const folder = mkdtempSync(join(ROOT, 'dist/.build-'));

  afterAll(() => rmSync(folder, { recursive: true }));

  it('refuses what the sources refuse', async () => {
    await run(LINK, [folder, ...specs]);
    const config = { rootDir: folder, testMatch: ['**/*spec-*.cjs'], transform: {} };
    const { stdout } = await run(JEST, ['--json', '--config', JSON.stringify(config)]).catch(
      (error: { stdout: string }) => error,
    );
    const { numPassedTests, testResults } = JSON.parse(stdout) as JestReport;
    expect(testResults.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(testResults).toHaveLength(specs.length);
    expect(numPassedTests).toBeGreaterThan(500);
  });
});

interface JestReport {
  readonly numPassedTests: number;
  readonly testResults: readonly { readonly status: string }[];
}
