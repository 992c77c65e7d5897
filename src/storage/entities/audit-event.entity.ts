import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { AuditEvent, AuditKind } from '../../policy/audit-event.js';

/** What happened to accounts and who did it. Append-only: the database refuses updates. */
@Entity('audit_event')
@Index('audit_event_at_idx', ['at'])
@Index('audit_event_account_idx', ['accountId', 'at', 'id'], {
  where: '("account_id" IS NOT NULL)',
})
@Index('audit_event_operator_idx', ['actor', 'at', 'id'], {
  where: `("actor" <> ALL (ARRAY['user'::text, 'system'::text, 'provider'::text]))`,
})
// Nearly every event is a login; those are found by their time.
@Index('audit_event_kind_idx', ['kind', 'at', 'id'], {
  where: `("kind" <> 'logged-in'::text)`,
})
export class AuditEventEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'audit_event_pkey',
  })
  id!: string;

  @Column('timestamptz') at!: Date;
  @Column('text') kind!: AuditKind;
  @Column('text') actor!: AuditEvent['actor'];

  /** No foreign key: what happened outlives the account. */
  @Column('uuid', { name: 'account_id', nullable: true }) accountId!: string | null;
  @Column('text', { nullable: true }) provider!: string | null;
  @Column('text', { nullable: true }) reason!: string | null;

  /** The session that a login began. */
  @Column('uuid', { name: 'session_id', nullable: true }) sessionId!: string | null;

  /** Where a login came from. */
  @Column('text', { nullable: true }) address!: string | null;

  /** The invitation that it is about; no foreign key, as above. */
  @Column('uuid', { name: 'invitation_id', nullable: true }) invitationId!: string | null;

  /** How many equal events this row counts. */
  @Column('integer', { default: 1 }) count!: number;
}
