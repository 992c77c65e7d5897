import type { ConfigurationReport } from './configuration-error.js';
import { VARIABLE_NAMES, variableOf, type VariableName, type Values } from './env.js';
import { validateEnvironment } from './environment-class.js';
import { parseVariable } from './parse-variable.js';
import type { Variable } from './variable.js';

/**
 * Parses and checks every text that was given. A variable with a problem gets its default, so that
 * the checks that follow can go on and all problems are told at once.
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
