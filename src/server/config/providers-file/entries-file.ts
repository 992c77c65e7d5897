import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { parseJson } from '../../../common/parse-json.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import type { ConfigurationReport } from '../environment/configuration-error.js';
import { readSecret, readSmallFile } from '../environment/small-file.js';
import { repeatedField } from './entry-schema.js';

/** The two variables of a list of entries: the path of a JSON file, and the same text itself. */
interface EntriesNames {
  readonly path: string;
  readonly json: string;
  /** Plural noun of the entries, for messages. */
  readonly content: string;
}

export type EntriesValues<Names extends EntriesNames> = Readonly<
  Record<Names['path'] | Names['json'], string | null>
>;

interface Source {
  /** Named by problems. */
  readonly variable: string;
  readonly text: string;
  /** Base directory of relative paths. */
  readonly directory: string;
}

/** Reports a problem of a field, such as `.claims.login`; an empty one is the entry itself. */
export type ReportField = (field: string, message: string) => void;

/** Reads the JSON array that one of the two variables gives; empty without one. */
export function readEntries<Names extends EntriesNames>(
  names: Names,
  values: EntriesValues<Names>,
  report: ConfigurationReport,
) {
  const source = sourceOf(names, values, report);
  return source === null
    ? { variable: names.path, directory: '', entries: [] }
    : { ...source, entries: entriesOf(source, names.content, report) };
}

/** Returns null for no object. An entry with a problem serves further checks only. */
export function readEntry<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  problem: ReportField,
): v.InferOutput<Schema> | null {
  const given = withoutNulls(value);
  const { output, issues = [] } = v.safeParse(schema, given, { abortPipeEarly: true });
  const found = new Map<string, readonly [field: string, message: string]>();
  for (const { path = [], expected, message } of issues) {
    const keys = path.map(({ key }) => key);
    const names = expected === 'never' ? keys.slice(0, -1) : keys;
    // A list index is omitted, so that problems name the list.
    const field = names.map((name) => (typeof name === 'string' ? `.${name}` : '')).join('');
    message.split('\n').forEach((line) => found.set(`${field} ${line}`, [field, line]));
  }
  found.forEach(([field, message]) => problem(field, message));
  return isRecord(output) ? output : null;
}

function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) {
    return value;
  }
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([name, field]) => [name, withoutNulls(field)]));
}

function sourceOf<Names extends EntriesNames>(
  names: Names,
  values: EntriesValues<Names>,
  report: ConfigurationReport,
): Source | null {
  const path = values[names.path as Names['path']];
  const text = values[names.json as Names['json']];
  if (path !== null && text !== null) {
    report.problem(names.path, `and ${names.json} are both set; keep one of them.`);
    return null;
  }
  if (path === null) {
    return text === null ? null : { variable: names.json, text, directory: process.cwd() };
  }
  const file = readSmallFile(path);
  if ('failure' in file) {
    report.problem(names.path, `names a file that ${file.failure}.`);
    return null;
  }
  return { variable: names.path, text: file.text, directory: dirname(resolve(path)) };
}

function entriesOf(
  { variable, text }: Source,
  content: string,
  report: ConfigurationReport,
): unknown[] {
  const parsed = parseJson(text);
  if (parsed === undefined) {
    report.problem(variable, 'is not valid JSON.');
    return [];
  }
  if (!Array.isArray(parsed)) {
    report.problem(variable, `must be a JSON array of ${content}.`);
    return [];
  }
  const repeated = repeatedField(text);
  if (repeated !== null) {
    report.problem(variable, repeated);
    return [];
  }
  return parsed as unknown[];
}

/** Addresses that logins through a provider need. */
export interface LoginAddresses {
  readonly publicUrl: string | null;
  /** False if browsers have no address to return to. */
  readonly hasReturnAddress: boolean;
}

export type FileReader = <Value>(
  field: string,
  path: string,
  parse: (text: string) => Value,
) => { readonly path: string; readonly text: string; readonly value: Value } | null;

/** A parser throws an Error whose message completes "names a file that". */
export function fileReader(directory: string, problem: ReportField): FileReader {
  return (field, name, parse) => {
    const path = resolve(directory, name);
    const file = readSecret(path);
    try {
      if ('failure' in file) {
        throw new Error(file.failure);
      }
      return { path, text: file.text, value: parse(file.text) };
    } catch (error) {
      problem(field, `names a file that ${(error as Error).message}.`);
      return null;
    }
  };
}
