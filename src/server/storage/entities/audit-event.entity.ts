import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { AuditEvent, AuditKind } from '../../../core/policy/audit-event.js';
import { TRANSACTION_NUMBER } from './security-event.entity.js';

/** Events of accounts and their actors. Append-only: the database refuses updates. */
@Entity('audit_event')
@Index('audit_event_at_idx', ['at'])
@Index('audit_event_account_idx', ['accountId', 'at', 'id'], {
  where: '("account_id" IS NOT NULL)',
})
@Index('audit_event_operator_idx', ['actor', 'at', 'id'], {
  where: `("actor" <> ALL (ARRAY['user'::text, 'system'::text, 'provider'::text]))`,
})
// Nearly every event is a login; logins are searched by time.
@Index('audit_event_kind_idx', ['kind', 'at', 'id'], {
  where: `("kind" <> 'logged-in'::text)`,
})
// Refused people and refused calls are searched by person, and deleted early.
@Index('audit_event_refusal_idx', ['at', 'id'], {
  where: `(("subject" IS NOT NULL) OR ("kind" = 'admin-refused'::text))`,
})
export class AuditEventEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
  })
  id!: string;

  @Column('timestamptz') at!: Date;
  @Column('text') kind!: AuditKind;
  @Column('text') actor!: AuditEvent['actor'];

  /** No foreign key: events outlive the account. */
  @Column('uuid', { nullable: true }) accountId!: string | null;
  @Column('text', { nullable: true }) provider!: string | null;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('text', { nullable: true }) detail!: string | null;
  @Column('uuid', { nullable: true }) sessionId!: string | null;
  @Column('text', { nullable: true }) address!: string | null;

  /** The person that the rules of a provider refused, as the provider names them. */
  @Column('text', { nullable: true }) subject!: string | null;
  @Column('text', { nullable: true }) login!: string | null;
  @Column('text', { nullable: true }) email!: string | null;

  /** The invitation that it is about; no foreign key, as above. */
  @Column('uuid', { nullable: true }) invitationId!: string | null;
  @Column('text', { nullable: true }) tokenEnd!: string | null;
  @Column('integer', { default: 1 }) count!: number;

  /** The issuer of the signal that caused it, and the transaction there. */
  @Column('text', { nullable: true }) issuer!: string | null;
  @Column('text', { nullable: true }) signalTxn!: string | null;

  /** The transaction that stored it. Security events of the same cause name it too. */
  @Column('bigint', { nullable: true, default: () => TRANSACTION_NUMBER }) txn!: string | null;
}
