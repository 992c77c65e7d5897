import type { FastifyInstance } from 'fastify';

/** One piece of work as traces show it. Attributes never hold what a caller sent. */
export interface Work {
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Left out where it would be the only piece of its trace. */
  readonly onlyAsPart?: boolean;
}

/** Whoever writes traces. */
export interface Tracing {
  run<Result>(work: Work, does: () => Promise<Result>): Promise<Result>;
  /** Adds facts to the piece of work under way. */
  note(attributes: Work['attributes']): void;
  /** What a log line needs to be found by its trace; empty outside of one. */
  ids(): { readonly trace_id?: string; readonly span_id?: string };
  /** Makes a piece of work of every request. Call it before the server listens. */
  watch(server: FastifyInstance): void;
}

let installed: Tracing | null = null;

/** Switches tracing on, for the whole process, before anything is built. */
export function installTracing(tracing: Tracing): void {
  installed = tracing;
}

/** null where traces are off, which is all that they cost there. */
export function tracing(): Tracing | null {
  return installed;
}
