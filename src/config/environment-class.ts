import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateBy,
  validateSync,
  type ValidationOptions,
} from 'class-validator';
import { isAddressRange } from './address-range.js';
import type { ConfigurationProblem } from './configuration-error.js';
import { VARIABLE_NAMES, variableOf } from './env.js';
import type {
  CsvVariable,
  IntegerVariable,
  StringVariable,
  UrlVariable,
  Variable,
} from './variable.js';

type Environment = Record<string, unknown>;

let environmentClass: (new () => Environment) | undefined;

/**
 * Checks parsed values against the table with class-validator; the class is built from the table
 * once, on the first call. One problem a variable, never with its value.
 */
export function validateEnvironment(parsed: ReadonlyMap<string, unknown>): ConfigurationProblem[] {
  environmentClass ??= buildEnvironmentClass();
  const environment = new environmentClass();
  for (const [name, value] of parsed) {
    environment[name] = value;
  }
  const errors = validateSync(environment, {
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  return errors.map((error) => ({
    variable: error.property,
    message: Object.values(error.constraints ?? {})[0] ?? 'is not valid.',
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
      return [IsIn([...variable.values], { message: oneOf(variable.values) })];
    case 'csv':
      return csvRules(variable);
    case 'cidrs':
      return listRules('an IP address or a CIDR range such as 10.0.0.0/8', isAddressRange);
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
  const rules = [IsString({ message: 'must be text.' })];
  if (pattern !== undefined) {
    rules.push(rule('shape', (value) => matches(pattern, value), `must be ${shape}.`));
  }
  if (minBytes !== undefined) {
    rules.push(rule('minBytes', hasBytes(minBytes), tooShort(minBytes)));
  }
  return rules;
}

function csvRules(variable: CsvVariable): PropertyDecorator[] {
  const { values, pattern, minBytes } = variable;
  if (values !== undefined) {
    const known = (item: unknown): boolean => values.includes(String(item));
    return listRules(`one of ${values.join(', ')}`, known, variable.nonEmpty);
  }
  if (minBytes !== undefined) {
    return [...listRules('text'), rule('minBytes', hasBytes(minBytes), tooShort(minBytes), true)];
  }
  const fits = (item: unknown): boolean => pattern === undefined || matches(pattern, item);
  return listRules(variable.shape ?? 'text', fits, variable.nonEmpty);
}

function listRules(
  shape: string,
  fits: (item: unknown) => boolean = () => true,
  nonEmpty = false,
): PropertyDecorator[] {
  const unclosed = 'must be a comma-separated list; a double quote is left open or out of place.';
  const rules = [IsArray({ message: unclosed })];
  if (nonEmpty) {
    const filled = (value: unknown): boolean => !Array.isArray(value) || value.length > 0;
    rules.push(rule('nonEmpty', filled, 'must have at least one item.'));
  }
  rules.push(
    rule('items', fits, `must be a comma-separated list; every item must be ${shape}.`, true),
  );
  return rules;
}

function urlRules({ schemes }: UrlVariable): PropertyDecorator[] {
  const allowed = schemes?.map((scheme) => `${scheme}://`).join(' or ');
  const message = `must be a full address${allowed ? ` that starts with ${allowed}` : ''}.`;
  const fits = (value: unknown): boolean => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
    return url !== null && (schemes?.includes(url.protocol.slice(0, -1)) ?? true);
  };
  return [rule('url', fits, message)];
}

function rule(
  name: string,
  validate: (value: unknown) => boolean,
  message: string,
  each = false,
): PropertyDecorator {
  const options: ValidationOptions = { message, each };
  return ValidateBy({ name, validator: { validate } }, options);
}

function matches(pattern: RegExp, value: unknown): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function hasBytes(minBytes: number): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && Buffer.byteLength(value) >= minBytes;
}

function tooShort(minBytes: number): string {
  return `must be at least ${minBytes} bytes long; make one with: openssl rand -base64 48`;
}

function oneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}.`;
}
