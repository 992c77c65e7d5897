import type { GatehouseProblem } from './problem.js';

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** Timers count to 2^31 ms, and start at once with anything above. */
const MAX_HINT_SECONDS = 3600;

/**
 * Whether a connection that was refused or closed may come back by itself. After everything else
 * somebody has to do something first: log in again, connect a provider, ask an administrator.
 */
export function canReconnect(problem: GatehouseProblem): boolean {
  return problem.isTemporary;
}

/**
 * How long to wait before the next attempt: what the server asked for, else twice as long each
 * time. Spread upwards, so that a server that comes back is not met by all its clients at once.
 *
 * @param attempt 0 for the first
 * @param dice from 0 to 1
 */
export function reconnectDelayMs(
  attempt: number,
  retryAfterSeconds: number | undefined,
  dice: number,
): number {
  const doubled = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempt, 16), MAX_DELAY_MS);
  const asked = Math.min(retryAfterSeconds ?? 0, MAX_HINT_SECONDS) * 1000;
  const base = retryAfterSeconds === undefined ? doubled : asked;
  return Math.round(base * (1 + dice / 2));
}
