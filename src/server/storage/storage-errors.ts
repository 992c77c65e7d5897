import { AppError } from '../../common/errors.js';

/** SQLSTATE classes of temporary failures (PostgreSQL manual, appendix A). */
const TRANSIENT_CLASSES = new Set(['08', '40', '53', '55', '57', '58', 'XX']);
/** The schema is older than this program: `gatehouse migrate` has not run yet. Or the role may not use a part of it. */
const SCHEMA_UNUSABLE = new Set(['42P01', '42703', '42501']);
const DISK_FULL = '53100';
const LOCK_TIMEOUT = '55P03';
const READ_ONLY = '25006';
/** No such prepared statement, or one of that name already: a pooler swaps connections between statements. */
const STATEMENT_LOST = new Set(['26000', '42P05']);
/** PostgreSQL stores no NUL in text or jsonb; a caller sent one. */
const UNSTORABLE_TEXT = new Set(['22021', '22P05']);
/** The row's account was deleted; every reference to accounts has this error code. */
const MISSING_REFERENCE = '23503';
const TO_ACCOUNT = /_account_fkey$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * No connection is possible: connection errors, a refused role, no such database, a shutdown, a transaction in which
 * this process was stopped for too long.
 */
const LOST = /^(08|28|3D|57P|25P0[34])/;

/** The database gives no connection, whatever its reason: too many of them, a missing right, a wrong password. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError';

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** A server that takes no writes is no primary any more, or is fenced off: its rows may be outdated. */
export class ReadOnlyDatabaseError extends Error {
  override readonly name = 'ReadOnlyDatabaseError';

  constructor(isReplica: boolean) {
    super(
      isReplica
        ? 'It is a standby, which is read-only: DATABASE_URL has to lead to the primary.'
        : 'It is read-only: default_transaction_read_only is on.',
    );
  }
}

/** Returns true if the server took no write, in answer to a statement or to a question. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof ReadOnlyDatabaseError || sqlState(error) === READ_ONLY;
}

/** Returns true if the connection must not be reused: its state is unknown, or it takes no writes. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  return code === null || LOST.test(code) || code === READ_ONLY;
}

/** Returns true if the connection has not the prepared statements that this program gave it, but others. */
export function isStatementLost(error: unknown): boolean {
  return STATEMENT_LOST.has(sqlState(error) ?? '');
}

/** The driver's words for a password that is missing. */
const NO_PASSWORD = /client password must be a (?:non-empty )?string$/;

/** Returns the message of a failed connection, with what to do where that is not clear from it. */
export function failureMessage({ message }: Error): string {
  if (NO_PASSWORD.test(message)) {
    return 'It asks for a password, and DATABASE_URL has none.';
  }
  return message.startsWith('unsupported startup parameter')
    ? `${message}. PgBouncer refuses settings in the query of DATABASE_URL: give them to the role (ALTER ROLE … SET), or name them in ignore_startup_parameters.`
    : message;
}

/** Returns true while nothing answers at the address, or the database says that it starts or stops. */
export function isStarting(error: unknown): boolean {
  return sqlState(error)?.startsWith('57P') ?? true;
}

export function isDiskFull(error: unknown): boolean {
  return sqlState(error) === DISK_FULL;
}

export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === LOCK_TIMEOUT;
}

/**
 * Maps temporary failures to `unavailable`, text that the database cannot store to
 * `invalid-request`, and a deleted account to `token-revoked`. Any other error is a bug.
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
  if (code === null || isConnectionLost(error) || isDiskFull(error) || isStatementLost(error)) {
    // `DatabaseOutageService` logs it, once and not with each request.
    return new AppError('unavailable');
  }
  const isTransient = TRANSIENT_CLASSES.has(code.slice(0, 2)) || SCHEMA_UNUSABLE.has(code);
  return isTransient ? new AppError('unavailable', {}, { cause: error }) : error;
}

function constraintOf(error: unknown): string {
  return error instanceof Error && 'constraint' in error ? String(error.constraint) : '';
}

/** Returns the server's SQLSTATE; null when the failure came from the network or the driver. */
function sqlState(error: unknown): string | null {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && SQLSTATE.test(code) && 'severity' in (error as object)
    ? code
    : null;
}
