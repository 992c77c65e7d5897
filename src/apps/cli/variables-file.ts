import { parseEnv } from 'node:util';
import {
  ConfigurationError,
  ConfigurationReport,
} from '../../server/config/environment/configuration-error.js';
import { readSmallFile } from '../../server/config/environment/small-file.js';
import type { EnvironmentText } from '../../server/config/environment/variable.js';
import { usageError } from './cli-error.js';

/** An assignment as Node's parser reads it; the value may begin a quoted text. */
const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=[ \t]*(.*)$/s;
const REST = /^[^\S\n]*(#.*)?$/;

/**
 * Reads the file of `--file`. It refuses lines that Node's parser ignores: their variables would
 * count as not set.
 *
 * @throws CliError `usage` for an unreadable file, ConfigurationError for its lines
 */
export function readVariablesFile(
  path: string,
  checkName: (name: string, report: ConfigurationReport) => void = () => undefined,
): EnvironmentText {
  const file = readSmallFile(path);
  if ('failure' in file) {
    throw usageError(`--file names a file that ${file.failure}.`);
  }
  const text = file.text.replace(/^\uFEFF/, '').replaceAll('\r', '');
  const report = new ConfigurationReport();
  const assignments = assignmentsIn(text, report);
  for (const name of assignments.keys()) {
    checkName(name, report);
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
