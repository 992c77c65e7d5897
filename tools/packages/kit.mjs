import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';

const PACKAGE = /^(@[^/]+\/)?[^/]+/;
const IMPORT = /\bfrom '([^']+)'|\bimport\(["']([^"']+)["']\)/g;

/**
 * The declarations of the kits, in one folder: most of them belong to several.
 *
 * @param {string} root
 * @param {string} folder
 * @param {string[]} kits folders of src that have an index.ts
 */
export async function writeTypes(root, folder, kits) {
  const project = `${folder}.json`;
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      ...{ rootDir: join(root, 'src'), outDir: folder, types: ['node'] },
      ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
    },
    include: kits.map((kit) => join(root, 'src', kit, 'index.ts')),
  };
  await writeFile(project, JSON.stringify(options));
  const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', project], { cwd: root });
  await rm(project);
}

/**
 * Writes the modules that a kit consists of, one file each so that a bundler can leave some out, and
 * their declarations.
 *
 * @param {{ root: string, types: string, folder: string, kit: string }} kit `types` as {@link writeTypes} wrote them
 * @returns {Promise<{ folders: string[], packages: Set<string> }>} top folders, and the packages that they import
 */
export async function writeModules({ root, types, folder, kit }) {
  const bundle = await rolldown({
    cwd: root,
    input: { [`${kit}/index`]: `src/${kit}/index.ts` },
    platform: 'neutral',
    external: /^[^./]/,
  });
  const { output } = await bundle.write({
    dir: folder,
    preserveModules: true,
    preserveModulesRoot: join(root, 'src'),
  });
  await bundle.close();
  const imported = output.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  const written = output.map(({ fileName }) => fileName);
  const declared = await copyTypes(types, folder, `${kit}/index.d.ts`);
  const files = [...written, ...declared.files];
  const packages = [...imported.filter((name) => !written.includes(name)), ...declared.packages]
    .filter((name) => !isBuiltin(name))
    .map((name) => PACKAGE.exec(name)[0]);
  return {
    folders: [...new Set(files.map((name) => name.split('/')[0]))].sort(),
    packages: new Set(packages),
  };
}

/** Copies a declaration file and all that it refers to. */
async function copyTypes(from, to, entry) {
  const files = new Set([entry]);
  const packages = new Set();
  // A set yields what is added while it is read.
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
