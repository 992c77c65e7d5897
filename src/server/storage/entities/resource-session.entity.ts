import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

/** A session at one backend. Its id is the `sid` of the backend's tokens. */
@Entity('resource_session')
@Unique('resource_session_session_key', ['sessionId', 'resourceServer'])
@Index('resource_session_expires_idx', ['expiresAt'])
@Index('resource_session_account_idx', ['accountId'])
@Index('resource_session_judge_idx', ['judgeAt'], { where: '(judge_at IS NOT NULL)' })
@Index('resource_session_rules_idx', ['resourceServer', 'rules'])
export class ResourceSessionEntity {
  @PrimaryColumn('uuid') id!: string;

  /** No foreign key: the row outlives its session, so that its end can be reported. */
  @Column('uuid') sessionId!: string;
  @Column('uuid') accountId!: string;

  /** The id of the configured backend. */
  @Column('text') resourceServer!: string;

  /** Expiry of the session. */
  @Column('timestamptz') expiresAt!: Date;

  /** Access has to be judged again at this time; null = when something changes. */
  @Column('timestamptz', { nullable: true }) judgeAt!: Date | null;

  /** A digest of the rules by which access was judged last. */
  @Column('text', { default: '' }) rules!: string;

  /** The transaction that made it due; null = time or changed rules did. */
  @Column('bigint', { nullable: true }) txn!: string | null;
}
