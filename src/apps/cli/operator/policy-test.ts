import { parseJson } from '../../../common/parse-json.js';
import { readEntry } from '../../../server/config/providers-file/entries-file.js';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import type { Settings } from '../../../server/config/settings.js';
import { outcomeFor, type PersonOutcome } from '../../../core/policy/findings/policy-test.js';
import type { ProviderRules } from '../../../core/policy/eligibility/provider-rules.js';
import type { CliContext } from '../command.js';
import { EXIT, usageError } from '../cli-error.js';
import { decodeInput, readInputFile } from '../input.js';
import { table } from '../output.js';
import { variablesToCheck } from '../server/config-report.js';
import { POLICY_TEST_ENTRY, type PolicyTestEntry } from './policy-test-entry.js';

type Context = CliContext<{ readonly file?: string }>;

type Expectation = PolicyTestEntry['expect'];

interface KnownRow {
  readonly row: PolicyTestEntry;
  readonly rules: ProviderRules;
}

interface Result {
  readonly name: string;
  readonly provider: string;
  readonly outcome: PersonOutcome;
  readonly expected: Expectation;
  /** Names of the fields with an unexpected outcome. */
  readonly differs: readonly (keyof Expectation)[];
}

export async function test(context: Context): Promise<number> {
  const { settings } = resolveSettings(variablesToCheck(context));
  const rows = await readRows(context.args[0] ?? '', settings);
  const now = Date.now();
  const results = rows.map((row) => resultOf(row, settings, now));
  const failed = results.filter(({ differs }) => differs.length > 0).length;
  context.output.result(
    { ok: failed === 0, passed: results.length - failed, failed, people: results },
    `${tableOf(results)}${results.length - failed} of ${results.length} as expected.`,
  );
  return failed === 0 ? EXIT.ok : EXIT.refused;
}

/** @throws CliError (usage) with every problem of the file */
async function readRows(path: string, { providers }: Settings): Promise<readonly KnownRow[]> {
  const entries = parse(path, decodeInput(await readInputFile(path)));
  const configured = providers.map(({ id }) => id);
  const problems: string[] = [];
  const rows = entries.flatMap((entry, index) => {
    const problem = (field: string, message: string): void => {
      problems.push(`[${index}]${field} ${message}`);
    };
    const row = readEntry(POLICY_TEST_ENTRY, entry, problem);
    const rules = providers.find(({ id }) => id === row?.provider);
    if (typeof row?.provider === 'string' && rules === undefined) {
      problem('.provider', `must be a configured provider: ${configured.join(', ') || 'none is'}.`);
    }
    return row === null || rules === undefined ? [] : [{ row, rules }];
  });
  if (problems.length > 0) {
    throw usageError([`${path} is invalid.`, ...problems].join('\n  '));
  }
  return rows;
}

function parse(path: string, json: string): readonly unknown[] {
  const entries = parseJson(json);
  if (Array.isArray(entries) && entries.length > 0) {
    return entries;
  }
  throw usageError(`${path} must be a JSON array of people.`);
}

function resultOf({ row, rules }: KnownRow, settings: Settings, now: number): Result {
  const { name, expect: expected, login = null, email = null, groups = null, ...person } = row;
  const outcome = outcomeFor(settings, rules, { ...person, login, email, groups }, now);
  const fields = Object.keys(expected) as (keyof Expectation)[];
  const differs = fields.filter(
    (field) => expected[field] !== undefined && textOf(expected[field]) !== textOf(outcome[field]),
  );
  return { name: name ?? login ?? row.subject, provider: rules.id, outcome, expected, differs };
}

function textOf(value: string | null | readonly string[] | undefined): string {
  return typeof value === 'object' && value !== null
    ? [...value].sort().join('+') || 'none'
    : (value ?? 'none');
}

const COLUMNS = ['eligibility', 'reason', 'access', 'creates'] as const;

function tableOf(results: readonly Result[]): string {
  const cells = results.map(({ name, provider, outcome, expected, differs }) => [
    differs.length === 0 ? 'ok' : 'FAIL',
    name,
    provider,
    ...COLUMNS.map((column) => {
      const text = textOf(outcome[column]);
      return differs.includes(column) ? `${text} (expected ${textOf(expected[column])})` : text;
    }),
  ]);
  return table([['', 'person', 'provider', ...COLUMNS], ...cells], []);
}
