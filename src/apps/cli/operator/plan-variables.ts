import { parseEnv } from 'node:util';
import {
  ConfigurationError,
  ConfigurationReport,
} from '../../../server/config/environment/configuration-error.js';
import { readSmallFile } from '../../../server/config/environment/small-file.js';
import type { EnvironmentText } from '../../../server/config/environment/variable.js';
import { isKnownName, unknownName } from '../../../server/config/read-environment.js';
import { SECRET_NAMES } from '../../../server/config/settings.js';
import { usageError } from '../cli-error.js';

/** Each stands for the others of its line, which must not be set together with it. */
const ALTERNATIVES: readonly (readonly (readonly string[])[])[] = [
  [
    ['AUTH_PROVIDERS_CONFIG_PATH'],
    ['AUTH_PROVIDERS_CONFIG_JSON'],
    ['AUTH_PROVIDERS_CONFIG_JSON_FILE'],
  ],
  [['AUTH_RESOURCE_SERVERS_CONFIG_PATH'], ['AUTH_RESOURCE_SERVERS_CONFIG_JSON']],
  [['AUTH_PROGRAM_CLIENTS_CONFIG_PATH'], ['AUTH_PROGRAM_CLIENTS_CONFIG_JSON']],
  [
    ['SERVICE_FEATURE_AUTH_MTLS__RULES_PATH'],
    [
      'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS',
      'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS',
    ],
  ],
  ...SECRET_NAMES.map((name) => [[name], [`${name}_FILE`]]),
];

/** Returns the variables after the change; those that the changed ones stand for are left out. */
export function withChanges(present: EnvironmentText, changes: EnvironmentText): EnvironmentText {
  const replaced = ALTERNATIVES.flatMap((alternatives) => {
    const isChanged = alternatives.some((names) =>
      names.every((name) => Object.hasOwn(changes, name)),
    );
    return isChanged ? alternatives.flat() : [];
  });
  const kept = Object.entries(present).filter(([name]) => !replaced.includes(name));
  return { ...Object.fromEntries(kept), ...changes };
}

/** An assignment as Node's parser reads it; the value may begin a quoted text. */
const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=[ \t]*(.*)$/s;
const REST = /^[^\S\n]*(#.*)?$/;

/** Refuses lines that Node's parser ignores and unknown names, which would falsify the plan. */
export function readPlanVariables(path: string): EnvironmentText {
  const file = readSmallFile(path);
  if ('failure' in file) {
    throw usageError(`--file names a file that ${file.failure}.`);
  }
  const text = file.text.replace(/^\uFEFF/, '').replaceAll('\r', '');
  const report = new ConfigurationReport();
  const assignments = assignmentsIn(text, report);
  for (const name of assignments.keys()) {
    if (!isKnownName(name)) {
      report.problemOnce(name, unknownName(name));
    }
  }
  // Node 20 takes some comments and blank lines for a part of the next name.
  const variables: EnvironmentText = { ...parseEnv([...assignments.values()].join('\n')) };
  for (const name of assignments.keys()) {
    if (!Object.hasOwn(variables, name)) {
      report.problemOnce(name, 'cannot be read: write NAME=value.');
    }
  }
  if (report.problems.length > 0) {
    throw new ConfigurationError(report.problems);
  }
  return variables;
}

/** The last assignment of a name counts, as in Node's parser. */
function assignmentsIn(text: string, report: ConfigurationReport): ReadonlyMap<string, string> {
  const assignments = new Map<string, string>();
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, name, value = ''] = ASSIGNMENT.exec(line) ?? [];
    if (name !== undefined) {
      const last = at + linesBehind(value, lines, at, report);
      assignments.set(
        name,
        lines
          .slice(at, last + 1)
          .join('\n')
          .trimStart(),
      );
      at = last;
    } else if (!REST.test(line)) {
      report.problem(`line ${at + 1}`, 'is neither NAME=value nor a comment.');
    }
  }
  return assignments;
}

/** @returns the number of further lines of the quoted text that begins with `value` */
function linesBehind(
  value: string,
  lines: readonly string[],
  at: number,
  report: ConfigurationReport,
): number {
  const [quote = ''] = value;
  if (!['"', "'", '`'].includes(quote)) {
    return 0;
  }
  const rest = [value.slice(1), ...lines.slice(at + 1)].join('\n');
  const end = rest.indexOf(quote);
  if (end === -1) {
    report.problem(`line ${at + 1}`, 'begins a text in quotes that does not end.');
    return 0;
  }
  const more = rest.slice(0, end).split('\n').length - 1;
  const [behind = ''] = rest.slice(end + 1).split('\n', 1);
  if (!REST.test(behind)) {
    report.problem(`line ${at + more + 1}`, 'has more behind its closing quote.');
  }
  return more;
}
