import type { LoggerService } from '@nestjs/common';
import { pino, type Logger, type LoggerOptions } from 'pino';
import { tracing } from '../../common/trace.js';

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

/** Fields whose values are redacted at every level of a logged object. */
const SECRET_FIELDS = new Set([
  'authorization',
  'cookie',
  'token',
  'secret',
  'password',
  'clientSecret',
  'signature',
  'challenge',
  'proof',
  'pending',
  'response',
  'code_verifier',
]);
/** Levels of a logged object that are written. */
const WRITTEN_LEVELS = 6;

/** The framework's start messages are logged at level debug. */
const FRAMEWORK_CONTEXTS = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
  'WebSocketsController',
]);

export class JsonLogger implements LoggerService {
  readonly fatal = this.at('fatal');
  readonly error = this.at('error');
  readonly warn = this.at('warn');
  readonly debug = this.at('debug');
  readonly verbose = this.at('trace');
  private readonly pino: Logger;

  constructor(level: string, destination: { write(line: string): void }) {
    const traces = tracing();
    const options: LoggerOptions = {
      level,
      base: { service: 'gatehouse' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        // Measured: `redact` of pino parses its paths again for each line, a tenth of the CPU time of a login.
        log: (fields) => redactedFields(fields, WRITTEN_LEVELS),
      },
      ...(traces !== null && { mixin: () => traces.ids() }),
    };
    this.pino = pino(options, destination);
  }

  log(message: unknown, ...rest: unknown[]): void {
    const isFramework = FRAMEWORK_CONTEXTS.has(String(rest.at(-1)));
    this.write(isFramework ? 'debug' : 'info', message, rest);
  }

  private at(level: Level) {
    return (message: unknown, ...rest: unknown[]): void => this.write(level, message, rest);
  }

  /** Nest passes the context last, and a stack before it on errors. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const texts = rest.filter((part) => typeof part === 'string');
    const context = texts.at(-1);
    const stack = texts.length > 1 ? texts[0] : undefined;
    const fields = { ...(context && { context }), ...(stack && { stack }) };
    if (typeof message === 'object' && message !== null && !(message instanceof Error)) {
      this.pino[level]({ ...fields, ...message });
    } else {
      this.pino[level](fields, message instanceof Error ? message.message : String(message));
    }
  }
}

function redactedFields(fields: object, levels: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      SECRET_FIELDS.has(name) ? '[redacted]' : redacted(value, levels - 1),
    ]),
  );
}

/** A value that writes itself, such as a date, stays as it is. */
function redacted(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) {
    return value;
  }
  if (levels === 0) {
    return '[Object]';
  }
  return Array.isArray(value)
    ? value.map((one) => redacted(one, levels - 1))
    : redactedFields(value, levels);
}
