import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Manifest } from './render.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The oldest version that the chart supports, one between, and the newest that npm has types of. */
export const KUBERNETES = ['1.30', '1.33', '1.36'] as const;
export type KubernetesVersion = (typeof KUBERNETES)[number];

/** API groups that are added to a cluster, whose versions do not follow those of Kubernetes. */
const ADDED: readonly (readonly [RegExp, string])[] = [
  [/^gateway\.networking\.k8s\.io\//, '@kubernetes-models/gateway-api'],
  [/^gateway\.envoyproxy\.io\//, '@kubernetes-models/envoy-gateway'],
  [/^monitoring\.coreos\.com\//, '@kubernetes-models/prometheus-operator'],
  [/^cert-manager\.io\//, '@kubernetes-models/cert-manager'],
  [/^traefik\.io\//, '@kubernetes-models/traefik'],
];

/** Packages that are generated from the OpenAPI document of one version of Kubernetes. */
const TYPES: Readonly<Record<KubernetesVersion, (manifest: Manifest) => string>> = {
  '1.30': ({ apiVersion, kind }) => {
    const [version = '', group = 'core'] = apiVersion.split('/').reverse();
    return typeIn(`kubernetes-types/${group.split('.')[0]}/${version}.js`, kind);
  },
  '1.33': ({ apiVersion, kind }) => modelType('kubernetes-models-1-33', apiVersion, kind),
  '1.36': ({ apiVersion, kind }) => modelType('kubernetes-models', apiVersion, kind),
};

const typeIn = (module: string, name: string): string => `import('${module}').${name}`;
const modelType = (npmPackage: string, apiVersion: string, kind: string): string =>
  typeIn(`${npmPackage}/${apiVersion}/${kind}`, `I${kind}`);

/** Returns the package with the types of an added group, or undefined for a group of Kubernetes. */
function addedBy({ apiVersion }: Manifest): string | undefined {
  return ADDED.find(([pattern]) => pattern.test(apiVersion))?.[1];
}

/** Checks an object as the API server would check its values: types, ranges, required fields. */
export async function validateValues(manifest: Manifest): Promise<void> {
  const { apiVersion, kind } = manifest;
  const model = `${addedBy(manifest) ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
  const module = (await import(model)) as Record<
    string,
    new (data: Manifest) => { validate(): void }
  >;
  const Model = module[kind];
  if (Model === undefined) {
    throw new Error(`${model} does not have ${kind}.`);
  }
  new Model(manifest).validate();
}

/**
 * The problems that three versions of Kubernetes report under strict field validation, a line each.
 */
export async function problemsOf(
  manifests: readonly Manifest[],
): Promise<Readonly<Record<KubernetesVersion, readonly string[]>>> {
  // TypeScript finds the packages of this folder from a folder in it.
  const cache = join(ROOT, 'test/.cache');
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, 'chart-types-'));
  try {
    for (const version of KUBERNETES) {
      await writeFile(join(directory, `v${version}.mts`), moduleFor(version, manifests));
    }
    const errors = await compile(directory);
    const problems = (version: KubernetesVersion): string[] => [
      ...manifests.flatMap(unstableVersion),
      ...errors
        .filter((error) => error.version === version)
        .map(({ line, message }) => `${nameOf(manifests[line - 1])}: ${message}`),
    ];
    return { '1.30': problems('1.30'), '1.33': problems('1.33'), '1.36': problems('1.36') };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A module that compiles only where each of the objects has the type of its kind. */
function moduleFor(version: KubernetesVersion, manifests: readonly Manifest[]): string {
  const lines = manifests.map((manifest, index) => {
    const added = addedBy(manifest);
    const type =
      added === undefined
        ? TYPES[version](manifest)
        : modelType(added, manifest.apiVersion, manifest.kind);
    return `export const m${index}: ${type} = ${JSON.stringify(manifest)};`;
  });
  return lines.join('\n');
}

/** Alpha and beta versions are removed after some releases, and stable ones never are. */
function unstableVersion(manifest: Manifest): string[] {
  const { apiVersion } = manifest;
  const isStable = addedBy(manifest) !== undefined || /^(.+\/)?v\d+$/.test(apiVersion);
  return isStable ? [] : [`${nameOf(manifest)}: ${apiVersion} is not a stable version`];
}

function nameOf(manifest: Manifest | undefined): string {
  return `${manifest?.kind}/${manifest?.metadata.name}`;
}

interface CompilerError {
  readonly version: string;
  readonly line: number;
  readonly message: string;
}

async function compile(directory: string): Promise<CompilerError[]> {
  const flags = '--noEmit --strict --skipLibCheck --module nodenext --target es2022 --types node';
  const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const files = KUBERNETES.map((version) => join(directory, `v${version}.mts`));
  const more = ['--ignoreConfig', '--singleThreaded', '--pretty', 'false'];
  const output = await run(process.execPath, [tsc, ...flags.split(' '), ...more, ...files]).then(
    () => '',
    (error: { stdout?: string }) => error.stdout || String(error),
  );
  const errors = [...output.matchAll(/v([\d.]+)\.mts\((\d+),\d+\): error (.+)$/gm)].map(
    ([, version = '', line, message = '']) => ({ version, line: Number(line), message }),
  );
  if (output !== '' && errors.length === 0) {
    throw new Error(output);
  }
  return errors;
}
