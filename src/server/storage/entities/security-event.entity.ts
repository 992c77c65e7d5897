import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The transaction that writes the row: a function of the first migration. */
export const TRANSACTION_NUMBER = 'transaction_number()';

/** An event for the streams of one backend. Its id is the `jti` of the token that reports it. */
@Entity('security_event')
@Index('security_event_log_idx', ['resourceServer', 'xid', 'id'])
@Index('security_event_at_idx', ['at'])
export class SecurityEventEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') resourceServer!: string;

  /** The order of the log. A transaction that is still open may add a row before later ones. */
  @Column('bigint', { default: () => TRANSACTION_NUMBER }) xid!: string;
  @Column('timestamptz') at!: Date;

  /** The session at the backend that ended; null = an event about the stream. */
  @Column('uuid', { nullable: true }) sid!: string | null;
  @Column('uuid', { nullable: true }) accountId!: string | null;

  /** The code with which an exchange is refused; null = the session or the account ended. */
  @Column('text', { nullable: true }) code!: string | null;

  /** The transaction of the cause, as in its audit event. */
  @Column('bigint') txn!: string;

  /** The only stream that receives it; null = every stream of the backend. */
  @Column('uuid', { nullable: true }) streamId!: string | null;

  /** The text that a requested verification repeats. */
  @Column('text', { nullable: true }) state!: string | null;
}
