import { DefaultNamingStrategy, type Table } from 'typeorm';
import { snakeCase } from 'typeorm/util/StringUtils.js';

export const MIGRATIONS_TABLE = 'schema_migration';

/** Names columns and constraints as PostgreSQL does by default. */
export class NamingStrategy extends DefaultNamingStrategy {
  override columnName(property: string, name: string | undefined): string {
    return name ?? snakeCase(property);
  }

  override primaryKeyName(table: Table | string, columns: string[]): string {
    const name = this.getTableName(table);
    // Databases of earlier versions have TypeORM's own name for the key of this table.
    return name === MIGRATIONS_TABLE ? super.primaryKeyName(table, columns) : `${name}_pkey`;
  }

  override foreignKeyName(table: Table | string, columns: string[]): string {
    const names = columns.map((column) => column.replace(/_id$/, ''));
    return `${this.getTableName(table)}_${names.join('_')}_fkey`;
  }
}
