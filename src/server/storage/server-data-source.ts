import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import {
  DataSource,
  QueryFailedError,
  type EntityMetadata,
  type EntityTarget,
  type ObjectLiteral,
  type ReplicationMode,
} from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { AppError } from '../../common/errors.js';
import { tracing, type Work } from '../../common/trace.js';
import type { DatabaseConnection } from './database-connection.js';
import {
  isConnectionLost,
  isReadOnly,
  isStatementLost,
  NoConnectionError,
  translateStorageError,
} from './storage-errors.js';

/** Limit of statements that wait for a connection; further ones are refused at once. */
const MAX_WAITING = 1000;
/** A pooler in transaction mode does not keep the isolation of the session. */
const BEGIN = 'START TRANSACTION ISOLATION LEVEL READ COMMITTED';
/** Most statements are constants of this program, far fewer than this; the rest stay unnamed. */
const MAX_PREPARED = 500;
const NAME_LENGTH = 22;

/**
 * A data source that outlives failures of its database. Every statement runs through its query
 * runners: traced, prepared once per connection, refused as `unavailable` while the database cannot
 * answer or takes no writes. A connection in an unknown state is destroyed.
 */
export class ServerDataSource extends DataSource {
  /** Receives the failures of statements, before they are translated. */
  onFailure: (error: Error) => void = () => undefined;
  /** The newest failure, before it was translated. */
  lastFailure: Error | null = null;
  /** Counts the times at which the database took no writes. */
  refusedWrites = 0;
  private accepts = false;
  private statementNames: Map<string, string> | null = null;

  /** Starts to run statements. @param prepares true if each connection keeps parsed statements */
  open(prepares: boolean): void {
    this.statementNames = prepares ? new Map() : null;
    this.accepts = true;
  }

  /** Refuses every statement from here on as `unavailable`. */
  close(): void {
    this.accepts = false;
  }

  get isOpen(): boolean {
    return this.accepts;
  }

  poolUse(): { total: number; idle: number; waiting: number } {
    const pool = (this.driver as PostgresDriver).master as Pool | undefined;
    const { totalCount = 0, idleCount = 0, waitingCount = 0 } = (this.isOpen && pool) || {};
    // The pool queues a request for a turn of the event loop even if a connection is idle.
    return { total: totalCount, idle: idleCount, waiting: Math.max(waitingCount - idleCount, 0) };
  }

  /** @throws AppError `unavailable` */
  checkAvailable(): void {
    if (!this.isOpen || this.poolUse().waiting >= MAX_WAITING) {
      throw new AppError('unavailable');
    }
  }

  /** Returns false once a pooler has lost prepared statements. */
  get prepares(): boolean {
    return this.statementNames !== null;
  }

  reportFailure(error: Error): void {
    this.lastFailure = error;
    if (isStatementLost(error)) {
      this.statementNames = null;
    }
    if (isReadOnly(error)) {
      this.refusedWrites += 1;
    }
    this.onFailure(error);
  }

  /**
   * Returns the name of the prepared statement; undefined = it is not prepared. The name is that of the
   * text: a pooler may hand out a connection on which another process has prepared its statements.
   */
  statementName(sql: string): string | undefined {
    const known = this.statementNames?.get(sql);
    if (known !== undefined || this.statementNames === null) {
      return known;
    }
    if (this.statementNames.size >= MAX_PREPARED) {
      return undefined;
    }
    const name = `gatehouse_${hash('sha256', sql, 'base64url').slice(0, NAME_LENGTH)}`;
    this.statementNames.set(sql, name);
    return name;
  }

  /** Before the first connection there is no metadata: repositories are refused like statements. */
  protected override findMetadata(target: EntityTarget<ObjectLiteral>): EntityMetadata | undefined {
    if (this.entityMetadatas.length === 0) {
      throw new AppError('unavailable');
    }
    return super.findMetadata(target);
  }

  override createQueryRunner(mode: ReplicationMode = 'master'): ServerQueryRunner {
    const runner = new ServerQueryRunner(this, mode);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }
}

class ServerQueryRunner extends PostgresQueryRunner {
  private isLost = false;

  constructor(
    private readonly source: ServerDataSource,
    mode: ReplicationMode,
  ) {
    super(source.driver as PostgresDriver, mode);
  }

  override async connect(): Promise<unknown> {
    if (this.isLost) {
      throw new AppError('unavailable');
    }
    if (this.databaseConnection !== undefined) {
      return this.databaseConnection as unknown;
    }
    this.source.checkAvailable();
    try {
      const connection = (await super.connect().catch(noConnection)) as DatabaseConnection;
      await connection.requireWritable(this.source.refusedWrites);
      return connection;
    } catch (error) {
      throw this.translate(error);
    }
  }

  override async query(
    sql: string,
    parameters?: unknown[],
    isStructured = false,
  ): ReturnType<PostgresQueryRunner['query']> {
    const name = parameters?.length ? this.source.statementName(sql) : undefined;
    const text = sql === 'START TRANSACTION' ? BEGIN : sql;
    // TypeORM passes the statement to pg unchanged, which also accepts a named one.
    const statement = name === undefined ? text : ({ name, text } as unknown as string);
    const run = (): Promise<unknown> => super.query(statement, parameters, isStructured);
    const traces = tracing();
    try {
      return await (traces === null ? run() : traces.run(statementWork(sql), run));
    } catch (error) {
      const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
      const translated = this.translate(cause);
      // It was not run; a transaction has ended with it.
      if (isStatementLost(cause) && name !== undefined && !this.isTransactionActive) {
        return this.query(sql, parameters, isStructured);
      }
      throw translated;
    }
  }

  private translate(error: unknown): unknown {
    if (error instanceof Error && !(error instanceof AppError)) {
      this.isLost ||= isConnectionLost(error);
      this.source.reportFailure(this.reasonOf(error));
    }
    return translateStorageError(error);
  }

  /** TypeORM and the driver say only that a connection is over, not what ended it. */
  private reasonOf(error: Error): Error {
    const connection = this.databaseConnection as DatabaseConnection | undefined;
    return 'severity' in error ? error : (connection?.failure ?? error);
  }

  override release(): Promise<void> {
    const { releaseCallback } = this;
    if (this.isLost && releaseCallback !== undefined) {
      this.releaseCallback = () => releaseCallback(true);
    }
    return super.release();
  }
}

function noConnection(error: unknown): never {
  throw isReadOnly(error) ? error : new NoConnectionError(error);
}

const VERB = /\b(INSERT|UPDATE|DELETE|SELECT|START|COMMIT|ROLLBACK)\b/;
const TABLE = /\b(?:FROM|INTO|UPDATE|JOIN)\s+"(\w+)"/;

/** Describes a statement for traces: its verb and table, never its values. */
export function statementWork(sql: string): Work {
  const outer = sql.trimStart().startsWith('WITH') ? sql : withoutParts(sql);
  const verb = VERB.exec(outer)?.[1] ?? 'SQL';
  const table = TABLE.exec(outer)?.[1];
  return {
    name: table === undefined ? verb : `${verb} ${table}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': verb,
      ...(table !== undefined && { 'db.collection.name': table }),
    },
    onlyAsPart: true,
  };
}

/** Removes the parenthesised parts of a statement: subqueries read from other tables. */
function withoutParts(sql: string): string {
  const shorter = sql.replaceAll(/\([^()]*\)/g, '');
  return shorter === sql ? sql : withoutParts(shorter);
}
