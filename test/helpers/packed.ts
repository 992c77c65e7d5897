import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Not among the dependencies: they are 200 MB, and only one test starts them. */
const RUNTIMES = { bun: '1.4.5', deno: '2.9.6' };

export const run = promisify(execFile);

export interface PackedPackage {
  /** Path of the packed file. */
  readonly tarball: string;
  readonly files: readonly string[];
  /** Bytes of the files. */
  readonly unpackedSize: number;
}

/** As `npm pack --json` says it. */
interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

export interface Installed {
  /** Where they are installed, and nothing else is. */
  readonly folder: string;
  /** In the order of the names. */
  readonly packages: readonly PackedPackage[];
  remove(): Promise<void>;
}

/** Whether npm reaches its registry; where it must (CI), an error. */
export function hasRegistry(): boolean {
  try {
    execFileSync('npm', ['ping', '--fetch-retries=1'], { stdio: 'ignore' });
    return true;
  } catch (cause) {
    if (process.env['CI'] === 'true') {
      throw new Error('These tests install packages: npm has to reach its registry', { cause });
    }
    process.stderr.write('NOT RUN: tests that install packages: npm cannot reach its registry.\n');
    return false;
  }
}

/**
 * Packs what the build made and installs it in an empty folder, as a person would.
 *
 * @param names folders of dist/packages
 */
export async function installPacked(names: readonly string[]): Promise<Installed> {
  const home = await mkdtemp(join(tmpdir(), 'gatehouse-packed-'));
  const remove = (): Promise<void> => rm(home, { recursive: true, force: true });
  try {
    const sources = names.map((name) => join(ROOT, 'dist/packages', name));
    const args = ['pack', '--json', '--pack-destination', home, ...sources];
    const packed = JSON.parse((await run('npm', args)).stdout) as readonly Packed[];
    const packages = packed.map(({ filename, unpackedSize, files }) => {
      return { tarball: join(home, filename), unpackedSize, files: files.map(({ path }) => path) };
    });
    const folder = join(home, 'empty');
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    const tarballs = packages.map(({ tarball }) => tarball);
    await run('npm', ['install', '--no-audit', '--no-fund', ...tarballs], { cwd: folder });
    return { folder, packages, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Programs that run a module: Node, and the other runtimes, which are installed once. */
export async function runtimes(): Promise<Readonly<Record<'node' | 'bun' | 'deno', string[]>>> {
  const cache = join(ROOT, '.cache');
  const home = join(cache, `bun-${RUNTIMES.bun}-deno-${RUNTIMES.deno}`);
  if (!existsSync(home)) {
    await mkdir(cache, { recursive: true });
    const work = await mkdtemp(join(cache, 'runtimes-'));
    const wanted = Object.entries(RUNTIMES).map(([name, version]) => `${name}@${version}`);
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts'];
    await run('npm', ['install', '--prefix', work, ...flags, ...wanted]);
    await rename(work, home);
  }
  const program = async (scope: string, path: string): Promise<string> => {
    const [name = ''] = await readdir(join(home, 'node_modules', scope));
    return join(home, 'node_modules', scope, name, path);
  };
  return {
    node: [process.execPath],
    bun: [await program('@oven', 'bin/bun'), 'run'],
    deno: [await program('@deno', 'deno'), 'run', '--allow-all', '--quiet'],
  };
}
