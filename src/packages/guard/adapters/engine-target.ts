import type { AccessGate } from '../access-gate.js';
import type { GuardedRequest } from './credentials.js';

/** The base with which engine.io parses a target. */
const BASE = 'https://socket.io';
/** Transports of Socket.IO, which each of its requests names. */
const TRANSPORTS = ['polling', 'websocket', 'webtransport'];

/** A request of Socket.IO, as engine.io reads it. */
export interface EngineTarget {
  readonly path: string;
  readonly transport: string | null;
  /** The id of the engine session; null in its handshake. */
  readonly sid: string | null;
}

/**
 * Reads the target of a request as engine.io does, which ignores tabs and fragments.
 *
 * @returns null for a request that is not of Socket.IO
 * @throws AccessRefused for a target that programs read in different ways
 */
export function engineTargetOf(
  guard: AccessGate,
  { url = '' }: GuardedRequest,
): EngineTarget | null {
  if (url.includes('#') || !URL.canParse(url, BASE)) {
    throw guard.refusal('invalid-request');
  }
  const { pathname: path, searchParams } = new URL(url, BASE);
  const [transports, sids] = [searchParams.getAll('transport'), searchParams.getAll('sid')];
  if (!url.startsWith('/socket.io/') && !transports.some((one) => TRANSPORTS.includes(one))) {
    return null;
  }
  if (transports.length > 1 || sids.length > 1) {
    throw guard.refusal('invalid-request');
  }
  return { path, transport: transports[0] ?? null, sid: sids[0] || null };
}
