import { readdirSync, readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { ConfigurationReport } from './configuration-error.js';
import { SECRET_NAMES, VARIABLE_NAMES, variableOf, type VariableName } from './environment/env.js';

export type EnvironmentText = Readonly<Record<string, string | undefined>>;

/** The same place from src and from dist. */
export const PRESETS = new URL('../../config/presets/', import.meta.url);

/** The names `SERVICE_PRESET` accepts. */
export function presetNames(): string[] {
  return readdirSync(PRESETS)
    .filter((file) => file.endsWith('.env'))
    .map((file) => file.slice(0, -'.env'.length))
    .sort();
}

/**
 * The text of every known variable that is set: explicit, from the file of a secret, or from the
 * preset, in that order. An empty value counts as not set.
 */
export function gatherTexts(
  environment: EnvironmentText,
  report: ConfigurationReport,
): Map<string, string> {
  const texts = new Map<string, string>();
  for (const name of VARIABLE_NAMES) {
    keep(texts, name, ownText(environment, nameIn(environment, name)));
  }
  for (const name of SECRET_NAMES) {
    readSecretFile(environment, name, texts, report);
  }
  for (const [name, text] of presetTexts(texts.get('SERVICE_PRESET'), report)) {
    if (!texts.has(name)) {
      keep(texts, name, text);
    }
  }
  return texts;
}

/** The name under which a variable is set. */
function nameIn(environment: EnvironmentText, name: VariableName): string {
  const lower = name.toLowerCase();
  const isLower =
    variableOf(name).orLowerCase === true && (ownText(environment, lower) ?? '') !== '';
  return isLower ? lower : name;
}

/** The files in which secret variables are given, by the name of the variable. */
export function secretFilesIn(environment: EnvironmentText): ReadonlyMap<VariableName, string> {
  const entries = SECRET_NAMES.map((name) => [name, ownText(environment, `${name}_FILE`)] as const);
  return new Map(entries.flatMap(([name, path]) => (path ? [[name, path] as const] : [])));
}

function readSecretFile(
  environment: EnvironmentText,
  name: string,
  texts: Map<string, string>,
  report: ConfigurationReport,
): void {
  const path = ownText(environment, `${name}_FILE`);
  if (path === undefined || path === '') {
    return;
  }
  if (texts.has(name)) {
    report.problem(name, `and ${name}_FILE are both set; keep one of them.`);
    return;
  }
  const file = readSmallFile(path);
  if ('failure' in file) {
    report.problem(`${name}_FILE`, `names a file that ${file.failure}.`);
    return;
  }
  const text = file.text.replace(/\r?\n$/, '');
  if (text === '') {
    report.problem(`${name}_FILE`, 'names a file that is empty.');
  }
  keep(texts, name, text);
}

function presetTexts(
  preset: string | undefined,
  report: ConfigurationReport,
): (readonly [string, string | undefined])[] {
  if (preset === undefined) {
    return [];
  }
  const names = presetNames();
  if (!names.includes(preset)) {
    report.problem('SERVICE_PRESET', `must be one of ${names.join(', ')}.`);
    return [];
  }
  const file = readSmallFile(new URL(`${preset}.env`, PRESETS));
  if ('failure' in file) {
    report.problem('SERVICE_PRESET', `names a file that ${file.failure}.`);
    return [];
  }
  return Object.entries(parseEnv(file.text));
}

/** Inherited names such as `constructor` are not variables. */
function ownText(environment: EnvironmentText, name: string): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined;
}

function keep(texts: Map<string, string>, name: string, text: string | undefined): void {
  if (text !== undefined && text !== '') {
    texts.set(name, text);
  }
}

const LARGEST_FILE_BYTES = 1_048_576;

export type FileText = { readonly text: string } | { readonly failure: string };

/**
 * Reads a small text file. A failure is words that end "names a file that ...", without the content
 * and without the path (which may be a secret pasted into the wrong variable).
 */
export function readSmallFile(path: string | URL): FileText {
  try {
    const stats = statSync(path);
    if (!stats.isFile() && !stats.isFIFO()) {
      return { failure: 'is not a file' };
    }
    if (stats.size > LARGEST_FILE_BYTES) {
      return { failure: 'is larger than 1 MiB' };
    }
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { failure: FAILURES[codeOf(error)] ?? 'cannot be read' };
  }
}

const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this process',
};

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
