import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { bundleClient } from '../../helpers/client-bundle.js';
import { reportKit } from '../../helpers/kit-report.js';
import { KIT_VECTORS } from '../../helpers/kit-vectors.js';

const FOLDERS: Readonly<Record<string, string>> = {
  'linux-x64': 'linux64-bin',
  'darwin-x64': 'osx-bin',
  'darwin-arm64': 'osx-bin',
};
const FOLDER = FOLDERS[`${process.platform}-${process.arch}`];
const HERMES = join(
  import.meta.dirname,
  '../../node_modules/hermes-engine-cli',
  FOLDER ?? '',
  'hermes',
);

/** Compiles as the build of React Native does: without classes and async functions. */
function compileForHermes(script: string): string {
  const env = { targets: 'ie 11', exclude: ['transform-exponentiation-operator'] };
  return transformSync(script, { env, isModule: false }).code;
}

(FOLDER !== undefined && existsSync(HERMES) ? describe : describe.skip)('@gatehouse/client', () => {
  it('returns the same results in the engine of React Native as in Node, with nothing of a platform', async () => {
    const { script } = await bundleClient('test/helpers/kit-report.ts');
    const run = `gatehouse.reportKit(${JSON.stringify(KIT_VECTORS)})
      .then((report) => print(encodeURIComponent(JSON.stringify(report))), (error) => print(error.stack));`;
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-hermes-'));
    const file = join(folder, 'kit.js');
    writeFileSync(file, compileForHermes(`${script}\n${run}`));
    const printed = execFileSync(HERMES, ['-Xes6-promise', '-w', file], { encoding: 'utf8' });
    const report: unknown = JSON.parse(decodeURIComponent(printed.trim()));
    expect(report).toEqual(JSON.parse(JSON.stringify(await reportKit(KIT_VECTORS))));
  });
});
