import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { minifySync } from 'rolldown/utils';
import { rolldown } from 'rolldown';
import linking, { NOT_LINKED } from '../../rolldown.config.mjs';
import { builtFiles } from '../build/bring-up-to-date.mjs';
import { RELEASE_BUILD } from '../build/release-build.mjs';

const KITS = {
  client:
    'Client kit for Gatehouse: typed calls, live updates, keys, sealed content, notifications',
  notify: 'Sends the notifications of a Gatehouse account: push, web push and signed webhooks',
  webhooks: 'Verifies the webhook deliveries of Gatehouse',
  guard: 'Admits requests and sockets with tokens of Gatehouse, and ends them with their session',
};

/** Entries of kits besides their own, each a file of the kit's folder. */
const MORE_ENTRIES = { guard: ['testing'] };

/**
 * Builds the npm packages as folders. Requires the programs and the database.
 *
 * @param {{ root: string, work: string }} folders
 */
export async function buildPackages({ root, work }) {
  const project = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const types = join(work, 'types');
  await writeTypes(root, types, Object.keys(KITS));
  for (const [kit, description] of Object.entries(KITS)) {
    const folder = join(work, 'npm', kit);
    const modules = await writeModules({ root, types, folder, kit });
    const manifest = {
      name: `@gatehouse/${kit}`,
      description,
      sideEffects: false,
      exports: { ...exportsOf(kit), './package.json': './package.json' },
      files: modules.folders,
      dependencies: versionsOf(project, modules.packages),
    };
    await describePackage({ root, project, folder, source: kit }, manifest);
  }
  await rm(types, { recursive: true });
  await buildGatehouse({ root, project, folder: join(work, 'npm/server') });
}

/** The entry files of a kit, without their suffix. */
function entriesOf(kit) {
  return ['index', ...(MORE_ENTRIES[kit] ?? [])];
}

function exportsOf(kit) {
  const entries = entriesOf(kit).map((name) => {
    const file = `./packages/${kit}/${name}`;
    const entry = { types: `${file}.d.ts`, default: `${file}.js` };
    return [name === 'index' ? '.' : `./${name}`, entry];
  });
  return Object.fromEntries(entries);
}

async function buildGatehouse({ root, project, folder }) {
  const programs = builtFiles(root, 'programs').filter((name) => /^(bin|web)\//.test(name));
  for (const name of [...programs, ...builtFiles(root, 'database')]) {
    await copy(join(root, 'dist', name), join(folder, 'dist', name));
  }
  await removeWhitespace(join(folder, 'dist/bin'));
  await copy(join(root, 'config'), join(folder, 'config'));
  const manifest = {
    name: '@gatehouse/server',
    description: project.description,
    bin: project.bin,
    exports: { './package.json': './package.json' },
    files: ['dist', 'config'],
    dependencies: versionsOf(project, NOT_LINKED),
  };
  await describePackage({ root, project, folder, source: 'server' }, manifest);
}

/** Saves a fifth of the size. Names stay, because stack traces and the log show them. */
async function removeWhitespace(bin) {
  const chunks = (await readdir(bin)).filter((name) => name.endsWith('.cjs'));
  for (const name of chunks) {
    const file = join(bin, name);
    const options = { compress: false, mangle: false, codegen: { removeWhitespace: true } };
    const { code, errors } = minifySync(name, await readFile(file, 'utf8'), options);
    if (errors.length > 0) {
      throw new Error(`${name} cannot be read: ${errors[0].message}`);
    }
    await writeFile(file, code);
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

/** Uses the ranges of the project, and the installed version of indirect dependencies. */
function versionsOf({ dependencies }, names) {
  const require = createRequire(import.meta.url);
  const versions = [...names].sort().map((name) => {
    const range = dependencies[name] ?? require(`${name}/package.json`).version;
    return [name, range];
  });
  return Object.fromEntries(versions);
}

const PACKAGE = /^(@[^/]+\/)?[^/]+/;
const IMPORT = /\bfrom '([^']+)'|\bimport\(["']([^"']+)["']\)/g;

/**
 * Writes the declarations of all kits into one folder, because most belong to several.
 *
 * @param {string} root
 * @param {string} folder
 * @param {string[]} kits folders of src/packages
 */
async function writeTypes(root, folder, kits) {
  const project = `${folder}.json`;
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      ...{ rootDir: join(root, 'src'), outDir: folder, types: ['node'] },
      ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
    },
    include: kits.flatMap((kit) =>
      entriesOf(kit).map((name) => join(root, 'src/packages', kit, `${name}.ts`)),
    ),
  };
  await writeFile(project, JSON.stringify(options));
  const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', project], { cwd: root });
  await rm(project);
}

/**
 * Writes the modules and declarations of a kit, one file each, so that a bundler can omit unused
 * ones.
 *
 * @param {{ root: string, types: string, folder: string, kit: string }} kit `types` as {@link
 * writeTypes} wrote them
 *
 * @returns {Promise<{ folders: string[], packages: Set<string> }>} top folders, and the packages
 * that they import
 */
async function writeModules({ root, types, folder, kit }) {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(
      entriesOf(kit).map((name) => [`packages/${kit}/${name}`, `src/packages/${kit}/${name}.ts`]),
    ),
    platform: 'neutral',
    treeshake: linking.treeshake,
    transform: { define: RELEASE_BUILD },
    external: /^[^./]/,
  });
  const { output } = await bundle.write({
    dir: folder,
    minify: linking.output.minify,
    preserveModules: true,
    preserveModulesRoot: join(root, 'src'),
  });
  await bundle.close();
  const imported = output.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  const written = output.map(({ fileName }) => fileName);
  const entries = entriesOf(kit).map((name) => `packages/${kit}/${name}.d.ts`);
  const declared = await copyTypes(types, folder, entries);
  const files = [...written, ...declared.files];
  const packages = [...imported.filter((name) => !written.includes(name)), ...declared.packages]
    .filter((name) => !isBuiltin(name))
    .map((name) => PACKAGE.exec(name)[0]);
  return {
    folders: [...new Set(files.map((name) => name.split('/')[0]))].sort(),
    packages: new Set(packages),
  };
}

async function copyTypes(from, to, entries) {
  const files = new Set(entries);
  const packages = new Set();
  // The loop also visits elements that are added to the set meanwhile.
  for (const file of files) {
    const text = await readFile(join(from, file), 'utf8');
    for (const [, one, other] of text.matchAll(IMPORT)) {
      const name = one ?? other;
      if (name.startsWith('.')) {
        files.add(posix.join(posix.dirname(file), name.replace(/\.js$/, '.d.ts')));
      } else {
        packages.add(name);
      }
    }
    await mkdir(dirname(join(to, file)), { recursive: true });
    await cp(join(from, file), join(to, file));
  }
  return { files: [...files], packages };
}
