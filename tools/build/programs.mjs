import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { transformFile } from '@swc/core';
import { rolldown } from 'rolldown';
import { build } from 'vite';
import linking from '../../rolldown.config.mjs';
import { revisionOf } from './revision.mjs';

/** Vite builds the pages. Specs and declarations are no part of the programs. */
const NOT_COMPILED = /^apps\/web\/|spec\.ts$|\.d\.ts$/;

/**
 * Builds the compiled modules, the linked programs in `bin` and the pages in `web`
 * (docs/adr/0009-linked-programs.md).
 *
 * @param {{ root: string, work: string }} folders
 */
export async function buildPrograms({ root, work }) {
  await compile(root, work);
  await link(linking, work, work);
  await copyDocumentationPage(root, join(work, 'bin/swagger-ui'));
  await writeFile(join(work, 'bin/revision.txt'), `${revisionOf(root)}\n`);
  // Node never removes the compiled code of old chunks.
  await rm(join(root, 'dist/bin/compile-cache'), { recursive: true, force: true });
  await buildPage(join(root, 'src/apps/web'), join(work, 'web'));
  await buildPage(join(root, 'src/apps/web/admin'), join(work, 'web/admin'));
}

/** The files of swagger-ui-dist that the page loads, and their licences. */
const DOCUMENTATION_PAGE = [
  ...['LICENSE', 'NOTICE', 'favicon-16x16.png', 'favicon-32x32.png', 'swagger-ui.css'],
  ...['swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt'],
  ...['swagger-ui-standalone-preset.js', 'swagger-ui-standalone-preset.js.LICENSE.txt'],
];

async function copyDocumentationPage(root, folder) {
  await mkdir(folder);
  for (const file of DOCUMENTATION_PAGE) {
    await cp(join(root, 'node_modules/swagger-ui-dist', file), join(folder, file));
  }
}

async function buildPage(source, outDir) {
  const configFile = join(source, 'vite.config.mjs');
  const rolldownOptions = { checks: { pluginTimings: false } };
  await build({ configFile, logLevel: 'warn', build: { outDir, rolldownOptions } });
}

/** Compiles each file on its own with SWC, as .swcrc says, and writes its source map next to it. */
async function compile(root, work) {
  const source = join(root, 'src');
  const names = (await readdir(source, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !NOT_COMPILED.test(name),
  );
  await Promise.all(
    names.map((name) => compileFile(join(source, name), join(work, name.replace(/ts$/, 'js')))),
  );
}

async function compileFile(source, target) {
  const sourceFileName = relative(dirname(target), source);
  const { code, map } = await transformFile(source, { sourceFileName });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(`${target}.map`, map);
  await writeFile(target, `${code}\n//# sourceMappingURL=${basename(target)}.map`);
}

/**
 * Links a program of the specs with the compiled modules, like those of production, into a folder next to theirs.
 *
 * @param {string} program
 * @param {{ root: string, work: string }} folders
 */
export async function buildServerPool(program, { root, work }) {
  const input = { 'server-pool': join(root, program) };
  const output = { ...linking.output, dir: 'server-pool' };
  await link({ ...linking, input, output }, join(root, 'dist'), work);
  await rm(join(root, 'dist/server-pool/compile-cache'), { recursive: true, force: true });
}

/**
 * @param {import('rolldown').RolldownOptions} options
 * @param {string} compiled the folder of the compiled modules
 * @param {string} target the folder of the programs' folder
 */
async function link(options, compiled, target) {
  const bundle = await rolldown({ ...options, cwd: compiled });
  await bundle.write({ ...options.output, dir: join(target, options.output.dir) });
  await bundle.close();
}
