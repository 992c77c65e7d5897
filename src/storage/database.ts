import type { Pool, PoolClient, QueryConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { AppError } from '../common/errors.js';
import { tracing } from '../common/trace.js';
import { PreparedStatements } from './prepared-statements.js';
import { statementWork } from './statement-work.js';
import { isConnectionLost, translateStorageError } from './storage-errors.js';

/** Runs one SQL statement and returns its rows. */
export type Query = <Row>(sql: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/** Statements waiting for a connection beyond this are refused at once: every queue has a bound. */
const MAX_WAITING = 1000;

/**
 * The one door to the database. Failures of the database itself leave as `unavailable`; a
 * connection in an unknown state is destroyed, never returned to the pool.
 */
export class Database {
  private pool: Pool | null = null;
  private statements: PreparedStatements | null = null;

  /**
   * Opens the door: until then every statement is `unavailable`.
   *
   * @param prepares whether each connection prepares a statement once and names it after that
   */
  open(source: DataSource, prepares: boolean): void {
    this.pool = (source.driver as unknown as { master: Pool }).master;
    this.statements = prepares ? new PreparedStatements() : null;
  }

  close(): void {
    this.pool = null;
  }

  /** Runs one statement in its own transaction. */
  readonly query: Query = <Row>(sql: string, parameters: readonly unknown[] = []) => {
    const traces = tracing();
    const run = (): Promise<Row[]> => this.runAlone<Row>(sql, parameters);
    return traces === null ? run() : traces.run(statementWork(sql), run);
  };

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
  async transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    const client = await this.connect();
    let isLost = false;
    // The pool listens while a connection is idle; what nobody hears ends the process.
    const onLost = (): void => void (isLost = true);
    client.on('error', onLost);
    const query: Query = async <Row>(sql: string, parameters: readonly unknown[] = []) => {
      try {
        const traces = tracing();
        const run = async (): Promise<Row[]> =>
          (await client.query(this.toQuery(sql, parameters))).rows as Row[];
        return await (traces === null ? run() : traces.run(statementWork(sql), run));
      } catch (error) {
        isLost ||= isConnectionLost(error);
        throw translateStorageError(error);
      }
    };
    try {
      await query('BEGIN');
      const result = await work(query);
      await query('COMMIT');
      giveBack(client, onLost);
      return result;
    } catch (error) {
      await (isLost ? client.release(true) : rollBack(client, onLost));
      throw error;
    }
  }

  /** Connections in the pool, and statements waiting for one. */
  poolUse(): { total: number; idle: number; waiting: number } {
    const { totalCount = 0, idleCount = 0, waitingCount = 0 } = this.pool ?? {};
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  private async runAlone<Row>(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const pool = this.availablePool();
    try {
      const result = await pool.query(this.toQuery(sql, parameters));
      return result.rows as Row[];
    } catch (error) {
      throw translateStorageError(error);
    }
  }

  private toQuery(text: string, parameters: readonly unknown[]): QueryConfig {
    const values = [...parameters];
    const name = values.length === 0 ? undefined : this.statements?.nameOf(text);
    return name === undefined ? { text, values } : { name, text, values };
  }

  private async connect(): Promise<PoolClient> {
    try {
      return await this.availablePool().connect();
    } catch (error) {
      throw translateStorageError(error);
    }
  }

  private availablePool(): Pool {
    if (this.pool === null || this.pool.waitingCount >= MAX_WAITING) {
      throw new AppError('unavailable');
    }
    return this.pool;
  }
}

async function rollBack(client: PoolClient, onLost: () => void): Promise<void> {
  try {
    await client.query('ROLLBACK');
    giveBack(client, onLost);
  } catch {
    client.release(true);
  }
}

/** A connection that is destroyed instead keeps its listener: it may fail once more. */
function giveBack(client: PoolClient, onLost: () => void): void {
  client.release();
  client.removeListener('error', onLost);
}
