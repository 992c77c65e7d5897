import { readdirSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { PACKAGE_ROOT } from '../../common/package-root.js';
import { closestName } from './environment/closest-name.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import { parseVariable, problemIn } from './environment/parse-variable.js';
import { oneLine, readSecret, readSmallFile } from './environment/small-file.js';
import type { EnvironmentText } from './environment/variable.js';
import {
  SECRET_NAMES,
  VARIABLE_NAMES,
  variableOf,
  type Values,
  type VariableName,
} from './settings.js';

export const PRESETS = new URL('config/presets/', PACKAGE_ROOT);

export function presetNames(): string[] {
  return readdirSync(PRESETS)
    .filter((file) => file.endsWith('.env'))
    .map((file) => file.slice(0, -'.env'.length))
    .sort();
}

/** Explicit, else of a secret's file, else of the preset. An empty value counts as not set. */
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

function nameIn(environment: EnvironmentText, name: VariableName): string {
  const lower = name.toLowerCase();
  const isLower =
    variableOf(name).orLowerCase === true && (ownText(environment, lower) ?? '') !== '';
  return isLower ? lower : name;
}

export function secretFileIn(environment: EnvironmentText, name: VariableName): string | null {
  return ownText(environment, `${name}_FILE`) || null;
}

function readSecretFile(
  environment: EnvironmentText,
  name: VariableName,
  texts: Map<string, string>,
  report: ConfigurationReport,
): void {
  const path = secretFileIn(environment, name);
  if (path === null) {
    return;
  }
  if (texts.has(name)) {
    report.problem(name, `and ${name}_FILE are both set; keep one of them.`);
    return;
  }
  const problem = (failure: string): void =>
    report.problem(`${name}_FILE`, `names a file that ${failure}.`);
  const file = readSecret(path);
  if ('failure' in file) {
    problem(file.failure);
    return;
  }
  try {
    keep(texts, name, secretText(name, file.text));
  } catch (error) {
    problem((error as Error).message);
  }
}

/** @throws Error that completes "names a file that ..." */
function secretText(name: VariableName, text: string): string {
  const { type, multiLine = type === 'json' } = variableOf(name);
  return multiLine ? text : oneLine(text);
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

/** A variable with a problem gets its default, so that the following checks still run. */
export function readValues(
  texts: ReadonlyMap<string, string>,
  report: ConfigurationReport,
): Values {
  const entries = VARIABLE_NAMES.map((name) => {
    const variable = variableOf(name);
    const text = texts.get(name);
    if (text === undefined) {
      return [name, variable.default];
    }
    const value = parseVariable(variable, text);
    const problem = problemIn(variable, value);
    if (problem !== null) {
      report.problem(name, problem);
    }
    return [name, problem === null ? clamped(name, value, report) : variable.default];
  });
  return Object.fromEntries(entries) as Values;
}

/** Reads the content of a secret's file. @throws Error with the problem, never with the value */
export function readSecretValue<Name extends VariableName>(name: Name, text: string): Values[Name] {
  const value = parseVariable(variableOf(name), secretText(name, text));
  const problem = problemIn(variableOf(name), value);
  if (problem !== null) {
    throw new Error(`${name}: ${problem}`);
  }
  return value as Values[Name];
}

function clamped(name: VariableName, value: unknown, report: ConfigurationReport): unknown {
  const variable = variableOf(name);
  if (variable.type !== 'integer' || variable.clamp !== true || typeof value !== 'number') {
    return value;
  }
  const inRange = Math.min(Math.max(value, variable.min), variable.max);
  if (inRange !== value) {
    report.warn(`${name} is outside ${variable.min}..${variable.max}; ${inRange} is used.`);
  }
  return inRange;
}

const KNOWN = [...VARIABLE_NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)];
const ACCEPTED: ReadonlySet<string> = new Set([
  ...KNOWN,
  ...VARIABLE_NAMES.flatMap((name) =>
    variableOf(name).orLowerCase === true ? [name.toLowerCase()] : [],
  ),
]);

export function isKnownName(name: string): boolean {
  return ACCEPTED.has(name) || /^OTEL_[A-Z0-9_]+$/.test(name);
}

export function unknownName(name: string): string {
  const meant = closestName(name, KNOWN);
  return `is not a variable of this server${meant === null ? '.' : `; did you mean ${meant}?`}`;
}

/**
 * A misspelt variable would leave its policy at the default, so it is a problem; any other unknown
 * name is a warning. Other programs have names such as `GITHUB_*` too: only a near miss counts.
 */
export function checkUnknownNames(names: readonly string[], report: ConfigurationReport): void {
  for (const name of names) {
    if (!/^(AUTH|SERVICE|GITHUB|ADMIN|METRICS|AUDIT)_/i.test(name) || ACCEPTED.has(name)) {
      continue;
    }
    if (closestName(name, KNOWN) !== null) {
      report.problem(name, unknownName(name));
    } else if (/^(AUTH|SERVICE)_/i.test(name)) {
      report.warn(`${name} is not a variable of this server and is ignored.`);
    }
  }
}
