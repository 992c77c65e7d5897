import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

export const CHART = fileURLToPath(new URL('../../helm/gatehouse/', import.meta.url));

export const VALUES_FILES: ReadonlyMap<string, string> = new Map(
  [
    join(CHART, 'values.yaml'),
    join(CHART, 'values-enterprise-keyless.yaml'),
    ...readdirSync(join(CHART, 'ci')).map((file) => join(CHART, 'ci', file)),
  ].map((path) => [basename(path, '.yaml').replace(/-values$/, ''), path]),
);

/** Reads values as Helm does, for which `no` is false. */
export function valuesIn(path: string): JsonObject {
  return (parse(readFileSync(path, 'utf8'), { version: '1.1' }) ?? {}) as JsonObject;
}

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** The fields that every object of a cluster has. */
export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string };
}

export interface HelmResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Helm without a cluster, a registry and the configuration of this user. */
export function runHelm(helm: string, args: readonly string[]): Promise<HelmResult> {
  const nowhere = 'http://127.0.0.1:9';
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(tmpdir(), 'gatehouse-helm'),
    KUBECONFIG: '/dev/null',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
  };
  return new Promise((resolve) => {
    const options = { env, maxBuffer: 16_777_216 };
    execFile(helm, [...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

export function template(helm: string, valuesFile: string, ...args: string[]): Promise<HelmResult> {
  return runHelm(helm, ['template', 'gate', CHART, '-f', valuesFile, ...args]);
}

/** Renders the chart with each of the values. One after the other: Helm takes 80 MB. */
export async function templateAll(helm: string, cases: readonly JsonObject[]): Promise<string[]> {
  const texts: string[] = [];
  for (const values of cases) {
    const { stdout, stderr } = await templateWith(helm, values);
    if (stderr !== '') {
      throw new Error(stderr);
    }
    texts.push(stdout);
  }
  return texts;
}

export async function templateWith(helm: string, values: JsonObject): Promise<HelmResult> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-chart-'));
  const file = join(directory, 'values.json');
  await writeFile(file, JSON.stringify(values));
  return template(helm, file);
}

/** Renders the objects of the chart. Fails where Helm reports anything. */
export async function manifestsWith(helm: string, values: JsonObject): Promise<Manifest[]> {
  return (await templateAll(helm, [values])).flatMap(manifestsIn);
}

/** Renders the notes that an administrator reads after an install. */
export async function notes(helm: string, valuesFile: string, ...more: string[]): Promise<string> {
  const args = ['install', 'gate', CHART, '-f', valuesFile, '--dry-run=client', ...more];
  const { stdout } = await runHelm(helm, args);
  return stdout.split('\nNOTES:\n')[1] ?? '';
}

export function manifestsIn(rendered: string): Manifest[] {
  return parseAllDocuments(rendered)
    .map((document) => {
      if (document.errors.length > 0) {
        throw new Error(document.errors.join('\n'));
      }
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}

export function find(manifests: readonly Manifest[], kind: string, suffix = ''): Manifest {
  const found = manifests.find(
    (one) => one.kind === kind && one.metadata.name.endsWith(suffix === '' ? '' : `-${suffix}`),
  );
  if (found === undefined) {
    throw new Error(`There is no ${kind} ${suffix}.`);
  }
  return found;
}

/** Returns a nested value by its path: `spec.template.spec.containers.0.name`. */
export function at(value: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((inner, key) => {
    return typeof inner === 'object' && inner !== null ? (inner as JsonObject)[key] : undefined;
  }, value);
}
