import { isIP } from 'node:net';
import {
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  Matches,
  Max,
  Min,
  ValidateBy,
  type ValidationOptions,
} from 'class-validator';
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

/** Returns invalid text unchanged, so that validation reports it with the variable's message. */
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

export function rulesOf(variable: Variable): PropertyDecorator[] {
  switch (variable.type) {
    case 'boolean':
      return [IsBoolean({ message: 'must be true or false (or 1/0, yes/no, on/off).' })];
    case 'integer':
      return integerRules(variable);
    case 'enum':
      return [IsIn(variable.values, { message: `must be one of ${variable.values.join(', ')}.` })];
    case 'csv':
      return csvRules(variable);
    case 'cidrs': {
      const shape = 'an IP address or a CIDR range such as 10.0.0.0/8';
      return [isList(), rule(isAddressRange, everyItem(shape), true)];
    }
    case 'url':
      return urlRules(variable);
    case 'string':
      return stringRules(variable);
    case 'path':
    case 'json':
      return [isText()];
  }
}

function integerRules({ min, max, clamp }: IntegerVariable): PropertyDecorator[] {
  if (clamp === true) {
    return [IsInt({ message: 'must be a whole number.' })];
  }
  const options = { message: `must be a whole number from ${min} to ${max}.` };
  return [IsInt(options), Min(min, options), Max(max, options)];
}

function stringRules({ pattern, shape, minBytes }: StringVariable): PropertyDecorator[] {
  return [
    isText(),
    ...(pattern === undefined ? [] : [Matches(pattern, { message: `must be ${shape}.` })]),
    ...(minBytes === undefined ? [] : [isAtLeast(minBytes)]),
  ];
}

function csvRules(variable: CsvVariable): PropertyDecorator[] {
  const { values, pattern, shape = 'text', minBytes, nonEmpty } = variable;
  const known = { message: everyItem(`one of ${values?.join(', ')}`), each: true };
  return [
    isList(),
    ...(nonEmpty === true ? [ArrayNotEmpty({ message: 'must have at least one item.' })] : []),
    ...(values === undefined ? [] : [IsIn(values, known)]),
    ...(minBytes === undefined ? [] : [isAtLeast(minBytes, true)]),
    ...(pattern === undefined ? [] : [Matches(pattern, { message: everyItem(shape), each: true })]),
  ];
}

function urlRules({ schemes, mistakeIn = () => null }: UrlVariable): PropertyDecorator[] {
  const allowed = schemes?.map((scheme) => `${scheme}://`).join(' or ');
  const message = `must be a full address${allowed ? ` that starts with ${allowed}` : ''}.`;
  const fits = (value: unknown): boolean => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
    const isAllowed = url !== null && (schemes?.includes(url.protocol.slice(0, -1)) ?? true);
    return isAllowed && mistakeIn(String(value)) === null;
  };
  return [rule(fits, ({ value }) => mistakeIn(String(value)) ?? message)];
}

function isText(): PropertyDecorator {
  return Matches(/\S/, { message: 'must not be only white space.' });
}

function isList(): PropertyDecorator {
  const message =
    'must be a comma-separated list; it has no item, or a double quote is left open or out of place.';
  return IsArray({ message });
}

function everyItem(shape: string): string {
  return `must be a comma-separated list; every item must be ${shape}.`;
}

function isAtLeast(minBytes: number, each = false): PropertyDecorator {
  const fits = (value: unknown): boolean =>
    typeof value === 'string' && Buffer.byteLength(value) >= minBytes;
  const advice = 'make one with: openssl rand -base64 48';
  return rule(fits, `must be at least ${minBytes} bytes long; ${advice}`, each);
}

function rule(
  validate: (value: unknown) => boolean,
  message: NonNullable<ValidationOptions['message']>,
  each = false,
): PropertyDecorator {
  return ValidateBy({ name: validate.name, validator: { validate } }, { message, each });
}

function isAddressRange(text: unknown): boolean {
  if (typeof text !== 'string') {
    return false;
  }
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = BITS[isIP(address)];
  if (bits === undefined || rest.length > 0 || address.includes('%')) {
    return false;
  }
  return prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
}
