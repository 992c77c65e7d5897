import { InvalidArgumentError } from 'commander';
import { usageError } from './cli-error.js';
import type { OptionSpec } from './command.js';

export const SERVER = [
  '--server <url>',
  'server to use (default: $GATEHOUSE_SERVER, else the last login)',
] as const satisfies OptionSpec;

export const PROVIDER = [
  '--provider <id>',
  'use this identity provider, in a browser',
] as const satisfies OptionSpec;

export const OLDER_SERVER = [
  '--older-server',
  'the server is older than this command and gives no challenge: sign one of our own (less secure)',
] as const satisfies OptionSpec;

export const NO_BROWSER = [
  '--no-browser',
  'print the address, and open no browser',
] as const satisfies OptionSpec;

export const YES = ['--yes', 'do not ask'] as const satisfies OptionSpec;

export const SETTINGS_FILE = [
  '--settings-file <file>',
  "read the notification settings from this file, not from the account's",
] as const satisfies OptionSpec;

export const FIELDS = [
  '--fields <names>',
  'print only these fields, separated by commas',
  { parse: fieldNames },
] as const satisfies OptionSpec;

// Not --env-file: Node 20 interprets that option itself, even after the script's name.
export const VARIABLES_FILE = [
  '--file <file>',
  "read the variables from this file, not from this shell's environment",
] as const satisfies OptionSpec;

export const DENY_PRIVATE = [
  '--deny-private',
  'refuse all hosts outside the public internet, also those of $GATEHOUSE_PRIVATE_HOSTS',
] as const satisfies OptionSpec;

export const REASON = [
  '--reason <text>',
  'why; kept in the audit trail',
  { isRequired: true },
] as const satisfies OptionSpec;

export const ACTOR = [
  '--actor <name>',
  "who; kept in the audit trail (default: this system's user)",
] as const satisfies OptionSpec;

/** As the administration API accepts it. */
const REASON_TEXT = /^[^\p{Cc}]{1,200}$/u;

/** @throws CliError (usage) for a blank text of {@link REASON} */
export function reasonIn({ reason = '' }: { readonly reason?: string }): string {
  if (reason.trim() === '') {
    throw usageError('--reason must say why: it is kept in the audit trail.');
  }
  if (!REASON_TEXT.test(reason.trim())) {
    throw usageError('--reason must have at most 200 characters, and no line breaks.');
  }
  return reason.trim();
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @returns milliseconds; null for a text that is not like `30m`, `24h` or `7d` */
export function durationMs(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (UNITS_MS[unit] ?? 0);
}

function fieldNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) {
    throw new InvalidArgumentError('It must be names of fields, separated by commas.');
  }
  return names;
}

export function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export const WITH_DATABASE = `
Works on the database of DATABASE_URL, with the same variables as the server.
`;
