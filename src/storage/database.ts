import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { EntityManager, QueryResult, QueryRunner } from 'typeorm';
import type { ServerDataSource } from './server-data-source.js';

/** Runs one SQL statement and returns its rows. */
export interface Query {
  <Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** TypeORM on the same connection: how repositories take part in a transaction. */
  readonly manager: EntityManager;
}

/**
 * Runs SQL where TypeORM's repositories do not serve: where one statement must decide (take-once,
 * leases, firsts, a login with its session) and on reads measured to be hot. Plain reads and writes
 * use the injected TypeORM repositories. Both run through {@link ServerDataSource}.
 */
@Injectable()
export class Database {
  /** Runs one statement in its own transaction. */
  readonly query: Query;

  constructor(@InjectDataSource() private readonly source: ServerDataSource) {
    const run = async <Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]> => {
      const runner = source.createQueryRunner();
      try {
        return await rowsOf<Row>(runner, sql, parameters);
      } finally {
        await runner.release();
      }
    };
    this.query = Object.assign(run, { manager: source.manager });
  }

  /** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
  transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    return this.source.transaction((manager) => {
      const runner = manager.queryRunner as QueryRunner;
      const query = <Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]> =>
        rowsOf(runner, sql, parameters);
      return work(Object.assign(query, { manager }));
    });
  }

  /** Connections in the pool, and statements waiting for one. */
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
