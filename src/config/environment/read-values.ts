import { isIP } from 'node:net';
import {
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  validateSync,
} from 'class-validator';
import type { ConfigurationProblem, ConfigurationReport } from '../configuration-error.js';
import { VARIABLE_NAMES, variableOf, type VariableName, type Values } from './env.js';
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

type Environment = Record<string, unknown>;

let environmentClass: (new () => Environment) | undefined;

/**
 * Parses and checks every text that was given. A variable with a problem gets its default, so that
 * the checks that follow can continue and all problems are reported at once.
 */
export function readValues(
  texts: ReadonlyMap<string, string>,
  report: ConfigurationReport,
): Values {
  const parsed = new Map<string, unknown>();
  for (const name of VARIABLE_NAMES) {
    const text = texts.get(name);
    if (text !== undefined) {
      parsed.set(name, parseVariable(variableOf(name), text));
    }
  }
  for (const { variable, message } of validateEnvironment(parsed)) {
    report.problem(variable, message);
    parsed.delete(variable);
  }
  const entries = VARIABLE_NAMES.map((name) => [name, valueOf(name, parsed, report)] as const);
  return Object.fromEntries(entries) as unknown as Values;
}

/**
 * The value of one variable alone, by the rules of the start.
 *
 * @throws Error with what is wrong, never with the value
 */
export function readValue<Name extends VariableName>(name: Name, text: string): Values[Name] {
  const value = parseVariable(variableOf(name), text);
  const [problem] = validateEnvironment(new Map([[name, value]]));
  if (problem !== undefined) {
    throw new Error(`${name}: ${problem.message}`);
  }
  return value as Values[Name];
}

function valueOf(
  name: VariableName,
  parsed: ReadonlyMap<string, unknown>,
  report: ConfigurationReport,
): unknown {
  const variable = variableOf(name);
  return parsed.has(name) ? clamped(name, variable, parsed.get(name), report) : variable.default;
}

function clamped(
  name: string,
  variable: Variable,
  value: unknown,
  report: ConfigurationReport,
): unknown {
  if (variable.type !== 'integer' || variable.clamp !== true || typeof value !== 'number') {
    return value;
  }
  const inRange = Math.min(Math.max(value, variable.min), variable.max);
  if (inRange !== value) {
    report.warn(`${name} is outside ${variable.min}..${variable.max}; ${inRange} is used.`);
  }
  return inRange;
}

/**
 * Turns the text of a variable into its type. Text that does not fit is returned as it is, so that
 * validation refuses it with the variable's own message.
 */
function parseVariable(variable: Variable, text: string): unknown {
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

/**
 * Splits a comma-separated list; an item that holds a comma is put in double quotes, as
 * distinguished names are. Empty items are dropped. An unclosed quote gives null.
 */
export function splitList(text: string): string[] | null {
  const item = /\s*(?:"([^"]*)"\s*|([^",]*))(,|$)/y;
  const items: string[] = [];
  while (item.lastIndex < text.length) {
    const match = item.exec(text);
    if (match === null) {
      return null;
    }
    items.push((match[1] ?? match[2] ?? '').trim());
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
  return items === null ? text : [...new Set(items)];
}

/**
 * Checks parsed values with class-validator, against a class built from the table on the first
 * call. One problem a variable, never with its value.
 */
export function validateEnvironment(parsed: ReadonlyMap<string, unknown>): ConfigurationProblem[] {
  environmentClass ??= buildEnvironmentClass();
  const environment = Object.assign(new environmentClass(), Object.fromEntries(parsed));
  const errors = validateSync(environment, {
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  return errors.map(({ property, constraints = {} }) => ({
    variable: property,
    message: Object.values(constraints)[0] ?? 'is not valid.',
  }));
}

function buildEnvironmentClass(): new () => Environment {
  class Environment {
    [name: string]: unknown;
  }
  for (const name of VARIABLE_NAMES) {
    for (const decorate of [IsOptional(), ...rulesOf(variableOf(name))]) {
      decorate(Environment.prototype, name);
    }
  }
  return Environment;
}

function rulesOf(variable: Variable): PropertyDecorator[] {
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
      return [IsString({ message: 'must be text.' })];
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
    IsString({ message: 'must be text.' }),
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

function urlRules({ schemes }: UrlVariable): PropertyDecorator[] {
  const allowed = schemes?.map((scheme) => `${scheme}://`).join(' or ');
  const message = `must be a full address${allowed ? ` that starts with ${allowed}` : ''}.`;
  const fits = (value: unknown): boolean => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
    return url !== null && (schemes?.includes(url.protocol.slice(0, -1)) ?? true);
  };
  return [rule(fits, message)];
}

function isList(): PropertyDecorator {
  const message = 'must be a comma-separated list; a double quote is left open or out of place.';
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
  message: string,
  each = false,
): PropertyDecorator {
  return ValidateBy({ name: validate.name, validator: { validate } }, { message, each });
}

/** Whether the text is an IP address, or a CIDR range such as 10.0.0.0/8 or fd00::/8. */
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
