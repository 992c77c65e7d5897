import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { minifySync } from 'rolldown/utils';
import { NOT_LINKED } from '../../rolldown.config.mjs';
import { builtFiles } from '../build/bring-up-to-date.mjs';
import { inAscii } from '../build/linked/chunk.mjs';
import { writeModules, writeTypes } from './kit.mjs';

const KITS = {
  client:
    'Client kit for Gatehouse: typed calls, live updates, keys, sealed content, notifications',
  notify: 'Sends the notifications of a Gatehouse account: push, web push and signed webhooks',
  webhooks: 'Verifies the webhook deliveries of Gatehouse',
};

/**
 * The npm packages, each as a folder to pack: `@gatehouse/client`, `@gatehouse/notify`,
 * `@gatehouse/webhooks`, and `gatehouse` itself with the linked programs. The programs and the
 * database have to be built before.
 *
 * @param {{ root: string, work: string }} folders
 */
export async function buildPackages({ root, work }) {
  const project = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const types = join(work, 'types');
  await writeTypes(root, types, Object.keys(KITS));
  for (const [kit, description] of Object.entries(KITS)) {
    const folder = join(work, 'packages', kit);
    const modules = await writeModules({ root, types, folder, kit });
    const manifest = {
      name: `@gatehouse/${kit}`,
      description,
      sideEffects: false,
      exports: {
        '.': { types: `./${kit}/index.d.ts`, default: `./${kit}/index.js` },
        './package.json': './package.json',
      },
      files: modules.folders,
      dependencies: versionsOf(project, modules.packages),
    };
    await describePackage({ root, project, folder, source: kit }, manifest);
  }
  await rm(types, { recursive: true });
  await buildGatehouse({ root, project, folder: join(work, 'packages/gatehouse') });
}

async function buildGatehouse({ root, project, folder }) {
  const programs = builtFiles(root, 'programs').filter((name) => /^(bin|web)\//.test(name));
  for (const name of [...programs, ...builtFiles(root, 'database')]) {
    await copy(join(root, 'dist', name), join(folder, 'dist', name));
  }
  await removeWhitespace(join(folder, 'dist/bin'));
  await copy(join(root, 'config'), join(folder, 'config'));
  const manifest = {
    name: 'gatehouse',
    description: project.description,
    bin: project.bin,
    exports: { './package.json': './package.json' },
    files: ['dist', 'config'],
    dependencies: versionsOf(project, NOT_LINKED),
  };
  await describePackage({ root, project, folder, source: 'gatehouse' }, manifest);
}

/** A fifth of the programs. Names stay: stack traces and the log show them. */
async function removeWhitespace(bin) {
  const chunks = (await readdir(bin)).filter((name) => name.endsWith('.cjs'));
  for (const name of chunks) {
    const file = join(bin, name);
    const options = { compress: false, mangle: false, codegen: { removeWhitespace: true } };
    const { code, errors } = minifySync(name, await readFile(file, 'utf8'), options);
    if (errors.length > 0) {
      throw new Error(`${name} cannot be read: ${errors[0].message}`);
    }
    await writeFile(file, inAscii(code));
  }
}

async function describePackage({ root, project, folder, source }, manifest) {
  const { version, license, engines, repository } = project;
  const { name, description, ...rest } = manifest;
  const whole = {
    ...{ name, version, description, license, repository, type: 'module', engines, ...rest },
    publishConfig: { access: 'public', provenance: true },
  };
  await copy(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await copy(join(root, 'tools/packages', source, 'README.md'), join(folder, 'README.md'));
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`);
}

async function copy(from, to) {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { recursive: true });
}

/** The ranges of the project; of what only its dependencies ask for, the version that they brought. */
function versionsOf({ dependencies }, names) {
  const require = createRequire(import.meta.url);
  const versions = [...names].sort().map((name) => {
    const range = dependencies[name] ?? require(`${name}/package.json`).version;
    return [name, range];
  });
  return Object.fromEntries(versions);
}
