import { AppError } from '../common/errors.js';

/**
 * SQLSTATE classes that say "not now" rather than "never": connection, transaction rollback,
 * resources, operator intervention, object not ready, system and internal errors
 * (PostgreSQL manual, appendix A).
 */
const TRANSIENT_CLASSES = new Set(['08', '40', '53', '55', '57', '58', 'XX']);
/** The schema is older than this program: `gatehouse migrate` has not run yet. */
const SCHEMA_BEHIND = new Set(['42P01', '42703']);
const READ_ONLY_REPLICA = '25006';
/** PostgreSQL stores no NUL in text or jsonb: a caller sent one where no route has a use for it. */
const UNSTORABLE_TEXT = new Set(['22021', '22P05']);
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Whether the failure leaves the connection in an unknown state, so that it must not be reused. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  return code === null || code.startsWith('08') || code.startsWith('57P');
}

/**
 * Turns "the database cannot answer right now" into `unavailable` and text that it cannot hold into
 * `invalid-request`; anything else is a bug and stays.
 */
export function translateStorageError(error: unknown): unknown {
  if (error instanceof AppError) {
    return error;
  }
  const code = sqlState(error);
  if (code !== null && UNSTORABLE_TEXT.has(code)) {
    return new AppError('invalid-request', {}, { cause: error });
  }
  const isTransient =
    code === null ||
    TRANSIENT_CLASSES.has(code.slice(0, 2)) ||
    SCHEMA_BEHIND.has(code) ||
    code === READ_ONLY_REPLICA;
  return isTransient ? new AppError('unavailable', {}, { cause: error }) : error;
}

/** The server's SQLSTATE; null when the failure came from the network or the driver. */
function sqlState(error: unknown): string | null {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && SQLSTATE.test(code) && 'severity' in (error as object)
    ? code
    : null;
}
