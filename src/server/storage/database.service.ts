import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { EntityManager, QueryResult, QueryRunner } from 'typeorm';
import type { ServerDataSource } from './server-data-source.js';
import { isReadOnly } from './storage-errors.js';

/** Runs SQL statements: {@link DatabaseService} each in its own transaction, a {@link Transaction} in one. */
export interface SqlRunner {
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

export interface Transaction extends SqlRunner {
  /** TypeORM on the same connection. */
  readonly manager: EntityManager;
}

/** It takes no lock of a table, so that it waits for no migration. */
const PROBE = `SELECT to_regclass('account') IS NOT NULL AS "hasTables"`;

const BY_INDEX = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)`;

/**
 * Runs SQL where one statement must decide (single use, leases, first writes, logins), and for
 * reads measured as hot. Other reads and writes use TypeORM repositories.
 */
@Injectable()
export class DatabaseService implements SqlRunner {
  constructor(@InjectDataSource() private readonly source: ServerDataSource) {}

  async query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]> {
    const runner = this.source.createQueryRunner();
    try {
      return await rowsOf<Row>(runner, sql, parameters);
    } finally {
      await runner.release();
    }
  }

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.source.transaction((manager) => {
      const runner = manager.queryRunner as QueryRunner;
      return work({ manager, query: (sql, parameters) => rowsOf(runner, sql, parameters) });
    });
  }

  /**
   * A {@link transaction} whose statements use indexes whatever the statistics say: those of a burst are old, and a plan
   * that was made for a small table is kept. Each part of them has conditions or an order of one index alone.
   */
  byIndex<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.transaction(async (tx) => {
      await tx.query(BY_INDEX);
      return work(tx);
    });
  }

  /** Returns the state of the database, which has the tables and takes writes where it is `ready`. */
  probe(): Promise<'ready' | 'schema-behind' | 'away' | 'read-only'> {
    return this.query<{ hasTables: boolean }>(PROBE).then(
      ([row]) => (row?.hasTables === true ? 'ready' : 'schema-behind'),
      () => (isReadOnly(this.source.lastFailure) ? 'read-only' : 'away'),
    );
  }

  poolUse(): { total: number; idle: number; waiting: number } {
    return this.source.poolUse();
  }
}

async function rowsOf<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Row[]> {
  const result = (await runner.query(sql, [...parameters], true)) as QueryResult<Row[]>;
  return result.records as Row[];
}
