import type { FastifyInstance } from 'fastify';

/** A unit of work, shown as one span. Attributes never hold what a caller sent. */
export interface Work {
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Omitted where it would be the only span of its trace. */
  readonly onlyAsPart?: boolean;
}

/** Writes traces. */
export interface Tracing {
  run<Result>(work: Work, does: () => Promise<Result>): Promise<Result>;
  /** Adds attributes to the current span. */
  note(attributes: Work['attributes']): void;
  /** The ids that connect a log line to its trace; empty outside of one. */
  ids(): { readonly trace_id?: string; readonly span_id?: string };
  /** Makes a span of every request. Call it before other hooks are added. */
  watch(server: FastifyInstance): void;
}

let installed: Tracing | null = null;

/** Switches tracing on for the whole process, before the application is created. */
export function installTracing(tracing: Tracing): void {
  installed = tracing;
}

/** null where traces are off. */
export function tracing(): Tracing | null {
  return installed;
}
