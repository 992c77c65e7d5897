import { isIP } from 'node:net';
import type {
  CsvVariable,
  IntegerVariable,
  StringVariable,
  UrlVariable,
  Variable,
} from './variable.js';

const TRUE_WORDS = ['true', '1', 'yes', 'on'];
const FALSE_WORDS = ['false', '0', 'no', 'off'];
const BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

/** Returns invalid text unchanged, so that {@link problemIn} reports it. */
export function parseVariable(variable: Variable, text: string): unknown {
  const exact = variable.secret === true && variable.type === 'string';
  const trimmed = exact ? text : text.trim();
  switch (variable.type) {
    case 'boolean':
      return parseBoolean(trimmed);
    case 'integer':
      return /^[+-]?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
    case 'enum':
      return trimmed.toLowerCase();
    case 'csv':
      return parseList(trimmed, variable.lowerCase === true);
    case 'cidrs':
      return parseList(trimmed, true);
    case 'url':
    case 'string':
    case 'path':
    case 'json':
      return trimmed;
  }
}

/** Splits at commas outside of double quotes, which keep white space. Returns null if one is open. */
function splitList(text: string): string[] | null {
  const item = /\s*(?:"([^"]*)"\s*|([^",]*))(,|$)/y;
  const items: string[] = [];
  while (item.lastIndex < text.length) {
    const match = item.exec(text);
    if (match === null) {
      return null;
    }
    items.push(match[1] ?? (match[2] ?? '').trim());
  }
  return items.filter((value) => value !== '');
}

function parseBoolean(text: string): unknown {
  const word = text.toLowerCase();
  if (TRUE_WORDS.includes(word)) {
    return true;
  }
  return FALSE_WORDS.includes(word) ? false : text;
}

function parseList(text: string, lowerCase: boolean): unknown {
  const items = splitList(lowerCase ? text.toLowerCase() : text);
  // A text that lost its items, such as `,`, would lift a restriction without a word.
  const isLost = items === null || (items.length === 0 && text !== '""');
  return isLost ? text : [...new Set(items)];
}

/** Returns what is wrong with a parsed value, to complete the name of its variable; null = nothing. */
export function problemIn(variable: Variable, value: unknown): string | null {
  switch (variable.type) {
    case 'boolean':
      return unless(typeof value === 'boolean', 'must be true or false (or 1/0, yes/no, on/off).');
    case 'integer':
      return problemInInteger(variable, value);
    case 'enum': {
      const { values } = variable;
      return unless(values.includes(String(value)), `must be one of ${values.join(', ')}.`);
    }
    case 'csv':
      return isList(value) ? problemInList(variable, value) : NO_LIST;
    case 'cidrs':
      return isList(value) ? unless(value.every(isAddressRange), everyItem(RANGE)) : NO_LIST;
    case 'url':
      return problemInUrl(variable, String(value));
    case 'string':
      return problemInText(variable, String(value));
    case 'path':
    case 'json':
      return problemInText({}, String(value));
  }
}

function unless(isRight: boolean, problem: string): string | null {
  return isRight ? null : problem;
}

function problemInInteger({ min, max, clamp }: IntegerVariable, value: unknown): string | null {
  const isInteger = typeof value === 'number' && Number.isInteger(value);
  if (clamp === true) {
    return unless(isInteger, 'must be a whole number.');
  }
  const problem = `must be a whole number from ${min} to ${max}.`;
  return unless(isInteger && value >= min && value <= max, problem);
}

function problemInText(
  { pattern, shape, minBytes = 0 }: Pick<StringVariable, 'pattern' | 'shape' | 'minBytes'>,
  text: string,
): string | null {
  if (!/\S/.test(text)) {
    return 'must not be only white space.';
  }
  return pattern?.test(text) === false ? `must be ${shape}.` : problemInLength(minBytes, [text]);
}

function problemInList(variable: CsvVariable, items: readonly string[]): string | null {
  const { values, pattern, shape = 'text', minBytes = 0, nonEmpty } = variable;
  if (nonEmpty === true && items.length === 0) {
    return 'must have at least one item.';
  }
  if (values !== undefined && !items.every((item) => values.includes(item))) {
    return everyItem(`one of ${values.join(', ')}`);
  }
  const isOther = pattern !== undefined && !items.every((item) => pattern.test(item));
  return problemInLength(minBytes, items) ?? (isOther ? everyItem(shape) : null);
}

function problemInLength(minBytes: number, texts: readonly string[]): string | null {
  const problem = `must be at least ${minBytes} bytes long; make one with: openssl rand -base64 48`;
  return unless(
    texts.every((text) => Buffer.byteLength(text) >= minBytes),
    problem,
  );
}

function problemInUrl({ schemes, mistakeIn }: UrlVariable, address: string): string | null {
  const mistake = mistakeIn?.(address) ?? null;
  const allowed = schemes?.map((scheme) => `${scheme}://`).join(' or ');
  const message = `must be a full address${allowed ? ` that starts with ${allowed}` : ''}.`;
  const scheme = URL.canParse(address) ? new URL(address).protocol.slice(0, -1) : null;
  const isAllowed = scheme !== null && (schemes?.includes(scheme) ?? true);
  return mistake ?? unless(isAllowed, message);
}

const RANGE = 'an IP address or a CIDR range such as 10.0.0.0/8';
const NO_LIST =
  'must be a comma-separated list; it has no item, or a double quote is left open or out of place.';

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

function everyItem(shape: string): string {
  return `must be a comma-separated list; every item must be ${shape}.`;
}

function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = BITS[isIP(address)];
  if (bits === undefined || rest.length > 0 || address.includes('%')) {
    return false;
  }
  return prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
}
