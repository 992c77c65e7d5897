import { randomUUID } from 'node:crypto';

const SANE = /^[\w.-]{1,128}$/;

/** The caller's `x-request-id` when it is sane, else a fresh one (contract, Errors). */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && SANE.test(header) ? header : randomUUID();
}
