import type { FastifyInstance } from 'fastify';

/** A unit of work, shown as one span. Attributes never contain input of a caller. */
export interface Work {
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Omits the span if it were the only one of its trace. */
  readonly onlyAsPart?: boolean;
}

export interface Tracing {
  run<Result>(work: Work, does: () => Promise<Result>): Promise<Result>;
  note(attributes: Work['attributes']): void;
  /** Ids that connect a log line to its trace; empty outside of a trace. */
  ids(): { readonly trace_id?: string; readonly span_id?: string };
  /** Creates a span for every request. Call it before other hooks are added. */
  watch(server: FastifyInstance): void;
}

let installed: Tracing | null = null;

/** Call it before the application is created. */
export function installTracing(tracing: Tracing): void {
  installed = tracing;
}

/** Returns null where tracing is disabled. */
export function tracing(): Tracing | null {
  return installed;
}
