import { cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  CHART,
  manifestsIn,
  runHelm,
  valuesIn,
  type HelmResult,
  type Json,
  type JsonObject,
} from './render.js';

export interface Rendered {
  /** As `helm template` writes it. */
  readonly text: string;
  readonly notes: string;
}

/**
 * Renders the chart with each of the values in one process, because half of Helm's time is its start.
 * One chart has them all as dependencies, each below a chart of its own, so that all keep their name.
 */
export function renderAll(helm: string, cases: readonly JsonObject[]): Promise<Rendered[]> {
  return inDirectory(async (directory) => {
    await writeParent(directory, 'all', NOTES);
    for (const [index] of cases.entries()) {
      const own = join(directory, 'charts', nameOf(index));
      await writeParent(own, nameOf(index));
      await cp(CHART, join(own, 'charts/gatehouse'), { recursive: true });
    }
    const nested = cases.map((gatehouse) => ({ gatehouse }));
    const { stdout, stderr } = await renderParent(helm, directory, nested);
    if (stderr !== '') {
      throw new Error(stderr);
    }
    const notes = entriesOf(stdout);
    const parts = stdout.split(/^(?=---\n# Source: )/m);
    return cases.map((_case, index) => {
      const source = `# Source: all/charts/${nameOf(index)}/charts/`;
      const own = parts.filter((part) => part.includes(source));
      return { text: own.join('').replaceAll(source, '# Source: '), notes: notes[index] ?? '' };
    });
  });
}

/** Returns why the chart refuses each of the values: by its schema, or with its own message. */
export function refusalsOf(helm: string, cases: readonly JsonObject[]): Promise<string[]> {
  return inDirectory(async (directory) => {
    const chart = join(directory, 'charts/gatehouse');
    await cp(CHART, chart, { recursive: true });
    const listed = messagesAfter(await hideObjects(join(chart, 'templates')));
    await writeAliases(directory, listed, cases);
    const { stderr } = await renderParent(helm, directory, cases);
    const sections = stderr.matchAll(/^case-(\d+):$([^]*?)(?=^case-|(?![^]))/gm);
    const bySchema = new Map(
      [...sections].map(([, index, text = '']) => [Number(index), text] as const),
    );
    await rm(join(chart, 'values.schema.json'));
    const others = cases.flatMap((values, index) => (bySchema.has(index) ? [] : [values]));
    await writeAliases(directory, listed, others);
    const { stdout, stderr: failure } = await renderParent(helm, directory, others);
    if (failure !== '') {
      throw new Error(failure);
    }
    const messages = entriesOf(stdout);
    return cases.map((_case, index) => bySchema.get(index) ?? messages.shift() ?? '');
  });
}

/** Lints the chart with each of the values in one process: as copies with other values of their own. */
export function lintAll(helm: string, cases: readonly JsonObject[]): Promise<HelmResult> {
  return inDirectory(async (directory) => {
    const defaults = valuesIn(join(CHART, 'values.yaml'));
    const charts = cases.map((_case, index) => join(directory, nameOf(index), 'gatehouse'));
    for (const [index, values] of cases.entries()) {
      const own = charts[index] ?? '';
      await cp(CHART, own, { recursive: true });
      await writeFile(join(own, 'values.yaml'), JSON.stringify(merged(defaults, values)));
    }
    return runHelm(helm, ['lint', '--strict', ...charts]);
  });
}

/** Merges values as Helm does: null deletes a value. */
function merged(defaults: JsonObject, values: JsonObject): JsonObject {
  const entries = Object.entries(values).map(([name, value]) => {
    const before = defaults[name];
    return [name, isObject(before) && isObject(value) ? merged(before, value) : value] as const;
  });
  const all = { ...defaults, ...Object.fromEntries(entries) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const nameOf = (index: number): string => `case-${index}`;

/** Lists a text of each dependency in an object of the parent chart. */
const listing = (text: string): string => `apiVersion: v1
kind: ConfigMap
metadata:
  name: all
data:
  {{- range $name, $parent := .Subcharts }}
  {{ $name }}: {{ ${text} | toJson }}
  {{- end }}
`;
const NOTES = listing(
  'include (printf "all/charts/%s/charts/gatehouse/templates/NOTES.txt" $name) $parent.Subcharts.gatehouse',
);
/** Runs the templates and discards what they write. */
const messagesAfter = (templates: readonly string[]): string =>
  listing('include "gatehouse.refusal" $parent').replace(
    '{{ $name }}:',
    `{{- range $file := list ${templates.map((name) => JSON.stringify(name)).join(' ')} }}
  {{- $_ := include (printf "all/charts/%s/templates/%s" $name $file) $parent }}
  {{- end }}
  {{ $name }}:`,
  );

/**
 * Hides the templates of objects from Helm, because the objects of refused values may not be valid.
 *
 * @returns those that Helm renders before the one that refuses, whose errors would hide the message: it goes by the
 * names, the last one first
 */
async function hideObjects(templates: string): Promise<string[]> {
  const names = await readdir(templates, { recursive: true });
  const objects = names.filter((name) => name.endsWith('.yaml'));
  for (const name of objects) {
    await rename(join(templates, name), join(templates, hidden(name)));
  }
  await rm(join(templates, 'NOTES.txt'));
  return objects.filter((name) => name > 'deployment.yaml').map(hidden);
}

const hidden = (name: string): string => `_${basename(name)}`;

function entriesOf(rendered: string): string[] {
  const list = manifestsIn(rendered).find(({ metadata }) => metadata.name === 'all');
  const data = (list?.['data'] ?? {}) as Readonly<Record<string, string>>;
  return Object.keys(data).map((_name, index) => data[nameOf(index)] ?? '');
}

async function writeAliases(
  directory: string,
  template: string,
  cases: readonly JsonObject[],
): Promise<void> {
  const dependencies = cases.map((_case, index) => ({
    ...{ name: 'gatehouse', version: '*', repository: '' },
    alias: nameOf(index),
  }));
  await writeParent(directory, 'all', template, { dependencies });
}

async function writeParent(
  directory: string,
  name: string,
  template?: string,
  more: JsonObject = {},
): Promise<void> {
  await mkdir(join(directory, 'templates'), { recursive: true });
  const about = { apiVersion: 'v2', name, version: '1.0.0', ...more };
  await writeFile(join(directory, 'Chart.yaml'), JSON.stringify(about));
  if (template !== undefined) {
    await writeFile(join(directory, 'templates/all.yaml'), template);
  }
}

async function renderParent(
  helm: string,
  directory: string,
  cases: readonly JsonObject[],
): Promise<HelmResult> {
  const file = join(directory, 'all-values.json');
  const values = Object.fromEntries(cases.map((own, index) => [nameOf(index), own]));
  await writeFile(file, JSON.stringify(values));
  return runHelm(helm, ['template', 'gate', directory, '-f', file]);
}

async function inDirectory<Result>(work: (path: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-chart-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
