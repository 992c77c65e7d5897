import pg, { type ClientConfig } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { trustingContext, type OwnCertificate } from '../network/tls-trust.js';
import { Clock } from '../../common/runtime/clock.js';
import { strictSslMode, type StorageSettings } from '../config/storage.config.js';
import { ReadOnlyDatabaseError } from './storage-errors.js';

/** Access to an external database, read for every connection: a change applies to the next. */
export interface ExternalDatabase {
  readonly url: string;
  /** PEM of authorities that are trusted in addition to those of Node.js. Default: none. */
  readonly caBundle?: string | null;
}

/** The client abandons a statement this long after the server's own limit. */
const CLIENT_MARGIN_MS = 500;
/** After this a connection is asked again: a pooler may have moved it to another server. */
const WRITABLE_FOR_MS = 1000;
/** A connection ends after this: the next one goes to the server that the address names by then. */
const MAX_LIFETIME_SECONDS = 300;

const TIMESTAMPTZ = pg.types.builtins.TIMESTAMPTZ;
const parseTime = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => unknown;

/** Settings of a session by which values are read and transactions run, whatever the role has. */
const PINNED = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  bytea_output: 'hex',
  extra_float_digits: '1',
  default_transaction_isolation: 'read committed',
  transaction_timeout: '0',
  // Statements are short, and a wrong estimate makes their compilation take longer than they do.
  jit: 'off',
  // The pool itself ends idle connections.
  idle_session_timeout: '0',
};

const WRITABILITY = `pg_is_in_recovery() AS "isReplica",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;

/** Without it a crash of the database forgets ends of access that were confirmed. Stricter values stay. */
const DURABLE = `(SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') = 'off')`;

/** Poolers refuse most startup parameters. Older versions of PostgreSQL lack some of the settings. */
const PIN = `
  SELECT count(set_config("name", "value", false)), ${DURABLE}, ${WRITABILITY}
  FROM unnest($1::text[], $2::text[]) AS "pinned" ("name", "value")
  WHERE current_setting("name", true) IS NOT NULL`;

interface Writability {
  readonly isReplica: boolean;
  readonly isReadOnly: boolean;
}

/** Options of the pool, and of its connections. */
export function connectionOptions(settings: StorageSettings): object {
  const { statementTimeoutMs } = settings;
  return {
    Client: DatabaseConnection,
    keepAlive: true,
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    // Without a client timeout, a server that hangs would block forever; 0 = no limit.
    query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + CLIENT_MARGIN_MS,
    onConnect: (connection: DatabaseConnection) => connection.prepare(settings),
  };
}

/** A connection with the same settings whatever its role has, to a server that takes writes. */
export class DatabaseConnection extends pg.Client {
  private readonly clock = new Clock();
  private writableUntil = -Infinity;
  private refusedWrites = 0;
  private endReason: Error | null = null;

  constructor(options?: ClientConfig) {
    super(options);
    this.setTypeParser(TIMESTAMPTZ, toTime);
    this.once('error', (error: Error) => {
      this.endReason = error;
    });
    // The driver keeps a connection whose login fails on this side, such as without a password: each try would add one.
    const { connection } = this;
    connection.once('error', () => connection.stream.destroy());
  }

  /** Why the connection ended while no statement ran; null = it did not. */
  get failure(): Error | null {
    return this.endReason;
  }

  /** Pins the settings of the session. @throws ReadOnlyDatabaseError */
  async prepare({ statementTimeoutMs, lockTimeoutMs }: StorageSettings): Promise<void> {
    const pinned = {
      ...PINNED,
      statement_timeout: String(statementTimeoutMs),
      lock_timeout: String(lockTimeoutMs),
      idle_in_transaction_session_timeout: String(statementTimeoutMs * 2),
    };
    await this.judge(PIN, [Object.keys(pinned), Object.values(pinned)]);
  }

  /**
   * Asks the server, unless the last answer is new.
   * @param refusedWrites changes when another connection was read-only
   * @throws ReadOnlyDatabaseError
   */
  async requireWritable(refusedWrites: number): Promise<void> {
    if (refusedWrites !== this.refusedWrites || this.clock.elapsed() >= this.writableUntil) {
      this.refusedWrites = refusedWrites;
      await this.judge(`SELECT ${WRITABILITY}`);
    }
  }

  private async judge(sql: string, parameters: readonly string[][] = []): Promise<void> {
    const askedAt = this.clock.elapsed();
    const { rows } = await this.query<Writability>(sql, [...parameters]);
    const [{ isReplica, isReadOnly } = { isReplica: false, isReadOnly: true }] = rows;
    if (isReadOnly) {
      throw new ReadOnlyDatabaseError(isReplica);
    }
    this.writableUntil = askedAt + WRITABLE_FOR_MS;
  }
}

/** A time that is read as null would be a missing one, such as that of a refusal. */
function toTime(text: string): Date {
  const time = parseTime(text);
  if (!(time instanceof Date)) {
    throw new Error('The database sent a time that is not in the format of ISO 8601.');
  }
  return time;
}

/** Returns the class of connections to an external database. */
export function connectionTo(access: ExternalDatabase): typeof DatabaseConnection {
  return class extends DatabaseConnection {
    constructor(options?: ClientConfig) {
      const config = parseIntoClientConfig(strictSslMode(access.url));
      super({ ...options, ...config, ...trustOf(config, access.caBundle) });
    }
  };
}

/** Certificate options of the address (sslrootcert, sslmode=no-verify) take precedence. */
function trustOf({ ssl }: ClientConfig, caBundle: string | null = null): Pick<ClientConfig, 'ssl'> {
  const given = ssl === true ? {} : ssl;
  if (!given || caBundle === null || given.ca !== undefined || given.rejectUnauthorized === false) {
    return {};
  }
  const { cert, key } = given as OwnCertificate;
  return { ssl: { ...given, secureContext: trustingContext(caBundle, { cert, key }) } };
}
