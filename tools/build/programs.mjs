import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { build } from 'vite';
import linking from '../../rolldown.config.mjs';

const NEST = 'node_modules/@nestjs/cli/bin/nest.js';

/**
 * The compiled modules, the linked programs in `bin` and the account page in `web`,
 * with the console for administrators in `web/admin` (docs/adr/0009-linked-programs.md).
 *
 * @param {{ root: string, work: string }} folders
 */
export async function buildPrograms({ root, work }) {
  await compile(root, work);
  await link(work);
  await buildPage(join(root, 'src/web'), join(work, 'web'));
  await buildPage(join(root, 'src/web/admin'), join(work, 'web/admin'));
}

async function buildPage(source, outDir) {
  const configFile = join(source, 'vite.config.mjs');
  await build({ configFile, logLevel: 'warn', build: { outDir } });
}

async function compile(root, work) {
  const project = join(work, 'tsconfig.json');
  const options = {
    extends: '../../tsconfig.json',
    compilerOptions: { outDir: '.' },
    exclude: ['**/*spec.ts'],
  };
  await writeFile(project, JSON.stringify(options));
  const args = [NEST, 'build', '--path', relative(root, project)];
  await promisify(execFile)(process.execPath, args, { cwd: root });
  await rm(project);
}

async function link(work) {
  const bundle = await rolldown({ ...linking, cwd: work });
  await bundle.write({ ...linking.output, dir: join(work, linking.output.dir) });
  await bundle.close();
}
