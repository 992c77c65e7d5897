import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { DatabaseService, type SqlRunner, type Transaction } from './database.service.js';
import type { ServerDataSource } from './server-data-source.js';

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

export interface CopyProgress extends CopiedTable {
  /** Rows of the last batch, which `rows` includes. */
  readonly batch: number;
  readonly total: number;
}

export class TargetNotEmptyError extends Error {
  override readonly name = 'TargetNotEmptyError';

  constructor(tables: readonly string[]) {
    super(`It is not empty: there are rows in ${tables.join(', ')}`);
  }
}

interface Column {
  readonly name: string;
  readonly type: string;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly key: readonly Column[];
  /** A column that a sequence numbers. */
  readonly numbered: string | null;
}

/** A row whose values are the text of PostgreSQL, which every type reads back unchanged. */
type TextRow = Readonly<Record<string, string | null>>;

const BATCH_ROWS = 1000;
/** Types of which a value has any size, by which a batch is limited. */
const UNBOUNDED_TYPES: ReadonlySet<string> = new Set(['bytea', 'text', 'text[]']);
/** A batch ends with the row that exceeds this size. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** A client that is cut off keeps its locks for no longer than this. */
const IDLE_LIMIT = '60s';

/** Copies a database in one transaction: an interrupted copy leaves the target empty. */
export class DatabaseCopy {
  private readonly tables: readonly Table[];
  private readonly target: DatabaseService;

  /** @param source a database that no server uses */
  constructor(
    private readonly source: SqlRunner,
    target: ServerDataSource,
  ) {
    this.tables = referencedFirst(target.entityMetadatas).map((entity) => toTable(entity, target));
    this.target = new DatabaseService(target);
  }

  /** @param verify a rejection rolls the copy back @throws TargetNotEmptyError */
  run(
    verify: (target: SqlRunner) => Promise<void>,
    report: (progress: CopyProgress) => void,
  ): Promise<CopiedTable[]> {
    return this.target.transaction(async (tx) => {
      await this.claim(tx);
      const copied: CopiedTable[] = [];
      for (const table of this.tables) {
        copied.push(await this.copyTable(tx, table, report));
      }
      await verify(tx);
      return copied;
    });
  }

  /** Keeps other writers out until the end of the transaction. */
  private async claim(tx: Transaction): Promise<void> {
    const names = this.tables.map(({ name }) => `"${name}"`);
    await tx.query(`SET LOCAL idle_in_transaction_session_timeout = '${IDLE_LIMIT}'`);
    await tx.query(`LOCK TABLE ${names.join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
    const found: string[] = [];
    for (const { name } of this.tables) {
      const rows = await tx.query(`SELECT 1 FROM "${name}" LIMIT 1`);
      found.push(...(rows.length > 0 ? [name] : []));
    }
    if (found.length > 0) {
      throw new TargetNotEmptyError(found);
    }
  }

  private async copyTable(
    tx: Transaction,
    table: Table,
    report: (progress: CopyProgress) => void,
  ): Promise<CopiedTable> {
    const total = await countRows(this.source, table);
    let rows = 0;
    let last: TextRow | undefined;
    for (;;) {
      const batch = await this.readBatch(table, last);
      last = batch.at(-1);
      if (last === undefined) {
        break;
      }
      await insert(tx, table, batch);
      rows += batch.length;
      report({ table: table.name, rows, batch: batch.length, total });
    }
    const written = await countRows(tx, table);
    if (written !== total) {
      throw new Error(`${table.name} has ${total} rows, and ${written} were written.`);
    }
    await this.continueNumbers(tx, table);
    await tx.query(`ANALYZE "${table.name}"`);
    return { table: table.name, rows };
  }

  /** Reads the rows after `last` in the order of the primary key, limited in number and size. */
  private readBatch({ name, columns, key }: Table, last: TextRow | undefined): Promise<TextRow[]> {
    const keys = key.map((column) => `"${column.name}"`).join(', ');
    const values = key.map(({ type }, index) => `$${index + 1}::${type}`).join(', ');
    const after = last === undefined ? '' : `WHERE (${keys}) > (${values})`;
    const size = columns.flatMap(({ name: column, type }) =>
      UNBOUNDED_TYPES.has(type)
        ? `coalesce(octet_length("${column}"${type === 'bytea' ? '' : '::text'}), 0)`
        : [],
    );
    const texts = columns.map((column) => `"${column.name}"::text AS "${column.name}"`);
    const order = key.map((column) => `"sized"."${column.name}"`).join(', ');
    return this.source.query<TextRow>(
      `SELECT ${texts.join(', ')}
       FROM (
         SELECT *, sum("row_size") OVER (ORDER BY ${keys} ROWS UNBOUNDED PRECEDING) AS "read"
         FROM (SELECT *, ${[...size, '0'].join(' + ')} AS "row_size" FROM "${name}" ${after}
           ORDER BY ${keys} LIMIT ${BATCH_ROWS}) AS "batch"
       ) AS "sized"
       WHERE "read" - "row_size" <= ${BATCH_BYTES} ORDER BY ${order}`,
      last === undefined ? [] : key.map((column) => last[column.name]),
    );
  }

  /** Numbers of deleted rows are not given out again: the sequence itself is copied. */
  private async continueNumbers(tx: Transaction, { name, numbered }: Table): Promise<void> {
    if (numbered === null) {
      return;
    }
    const sequence = `pg_get_serial_sequence('"${name}"', '${numbered}')`;
    const [found] = await this.source.query<{ name: string }>(`SELECT ${sequence} AS "name"`);
    const [state] = await this.source.query<{ last: string; isCalled: boolean }>(
      `SELECT last_value::text AS "last", is_called AS "isCalled" FROM ${found?.name}`,
    );
    await tx.query(`SELECT setval(${sequence}, $1::bigint, $2::boolean)`, [
      state?.last,
      state?.isCalled,
    ]);
  }
}

async function countRows(runner: SqlRunner, { name }: Table): Promise<number> {
  const [row] = await runner.query<{ count: string }>(`SELECT count(*) AS "count" FROM "${name}"`);
  return Number(row?.count);
}

async function insert(tx: Transaction, table: Table, rows: readonly TextRow[]): Promise<void> {
  const names = table.columns.map(({ name }) => `"${name}"`).join(', ');
  const values = table.columns.map(({ name, type }) => `"${name}"::${type}`).join(', ');
  const arrays = table.columns.map((_, index) => `$${index + 1}::text[]`).join(', ');
  await tx.query(
    `INSERT INTO "${table.name}" (${names}) OVERRIDING SYSTEM VALUE
     SELECT ${values} FROM unnest(${arrays}) AS "row" (${names})`,
    table.columns.map(({ name }) => rows.map((row) => row[name])),
  );
}

function toTable(entity: EntityMetadata, { driver }: ServerDataSource): Table {
  const toColumn = (column: ColumnMetadata): Column => ({
    name: column.databaseName,
    type: `${driver.normalizeType(column)}${column.isArray ? '[]' : ''}`,
  });
  return {
    name: entity.tableName,
    columns: entity.columns.map(toColumn),
    key: entity.primaryColumns.map(toColumn),
    numbered: entity.generatedColumns[0]?.databaseName ?? null,
  };
}

/** Sorts tables behind those that they reference. */
function referencedFirst(entities: readonly EntityMetadata[]): EntityMetadata[] {
  const sorted = new Set<EntityMetadata>();
  const add = (entity: EntityMetadata): void => {
    entity.foreignKeys.forEach(({ referencedEntityMetadata }) => add(referencedEntityMetadata));
    sorted.add(entity);
  };
  entities.forEach(add);
  return [...sorted];
}
