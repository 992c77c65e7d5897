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
/** A row of an account that is gone; every reference to accounts is named like this. */
const MISSING_REFERENCE = '23503';
const TO_ACCOUNT = /_account_fkey$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Whether the failure leaves the connection in an unknown state, so that it must not be reused. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  return code === null || code.startsWith('08') || code.startsWith('57P');
}

/**
 * Turns "the database cannot answer right now" into `unavailable`, text that it cannot hold into
 * `invalid-request`, and an account that was deleted meanwhile into `token-revoked`, as its tokens are;
 * anything else is a bug and stays.
 */
export function translateStorageError(error: unknown): unknown {
  if (error instanceof AppError) {
    return error;
  }
  const code = sqlState(error);
  if (code !== null && UNSTORABLE_TEXT.has(code)) {
    return new AppError('invalid-request', {}, { cause: error });
  }
  if (code === MISSING_REFERENCE && TO_ACCOUNT.test(constraintOf(error))) {
    return new AppError('token-revoked', {}, { cause: error });
  }
  const isTransient =
    code === null ||
    TRANSIENT_CLASSES.has(code.slice(0, 2)) ||
    SCHEMA_BEHIND.has(code) ||
    code === READ_ONLY_REPLICA;
  return isTransient ? new AppError('unavailable', {}, { cause: error }) : error;
}

function constraintOf(error: unknown): string {
  return error instanceof Error && 'constraint' in error ? String(error.constraint) : '';
}

/** The server's SQLSTATE; null when the failure came from the network or the driver. */
function sqlState(error: unknown): string | null {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && SQLSTATE.test(code) && 'severity' in (error as object)
    ? code
    : null;
}
