import type { MigrationInterface, QueryRunner } from 'typeorm';
import { securityEventFunctions } from './security-event-triggers.js';

/**
 * Adds the place of a stream that open transactions do not hold back. Earlier versions read the position alone, which
 * stays at or before it. The triggers find sessions at backends by an index, whatever the statistics say.
 */
export class EventCursors1765200000000 implements MigrationInterface {
  readonly name = 'EventCursors1765200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE event_stream
        ADD COLUMN cursor_xid bigint NOT NULL DEFAULT 0,
        ADD COLUMN cursor_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
        ADD COLUMN open_xids bigint[] NOT NULL DEFAULT '{}'`);
    for (const statement of securityEventFunctions()) {
      await runner.query(statement);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE event_stream DROP COLUMN cursor_xid, DROP COLUMN cursor_id, DROP COLUMN open_xids',
    );
  }
}
