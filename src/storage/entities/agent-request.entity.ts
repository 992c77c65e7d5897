import {
  Column,
  Entity,
  ForeignKey,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  Unique,
} from 'typeorm';
import type { ContentForm } from '../sealing/content-at-rest.service.js';
import { AccountEntity } from './account.entity.js';

/** A request of a program to the person, such as the permission that a coding agent asks for. */
@Entity('agent_request')
@Unique('agent_request_account_request_key', ['accountId', 'requestId'])
@Index('agent_request_open_expires_idx', ['expiresAt'], { where: `(state = 'open'::text)` })
@Index('agent_request_kept_until_idx', ['keptUntil'])
export class AgentRequestEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'agent_request_pkey' }) id!: string;

  @Column('uuid', { name: 'account_id' })
  @ForeignKey(() => AccountEntity, { name: 'agent_request_account_fkey', onDelete: 'CASCADE' })
  accountId!: string;

  /** 128 random bits of the program, in base64url. */
  @Column('text', { name: 'request_id' }) requestId!: string;

  /** The session that asked; no foreign key: the request outlives it. */
  @Column('uuid', { name: 'session_id' }) sessionId!: string;

  /** null once the request is closed, as is the content. */
  @Column('text', { nullable: true }) form!: ContentForm | null;
  @Column('bytea', { nullable: true }) content!: Buffer | null;

  /** SHA-256 of the content, which recognizes the same request after it was closed. */
  @Column('bytea', { name: 'content_hash' }) contentHash!: Buffer;

  /** A request whose time is over stays `open` until a job changes it. */
  @Column('text', { default: 'open' }) state!: 'open' | 'answered' | 'withdrawn' | 'expired';

  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'closed_at', nullable: true }) closedAt!: Date | null;

  /** The row is deleted then. */
  @Column('timestamptz', { name: 'kept_until' }) keptUntil!: Date;
}

/** The first answer of one session to a request. */
@Entity('request_answer')
export class RequestAnswerEntity {
  @PrimaryColumn('uuid', { name: 'request', primaryKeyConstraintName: 'request_answer_pkey' })
  request!: string;

  @ManyToOne(() => AgentRequestEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'request', foreignKeyConstraintName: 'request_answer_request_fkey' })
  answered?: AgentRequestEntity;

  @PrimaryColumn('uuid', { name: 'session_id', primaryKeyConstraintName: 'request_answer_pkey' })
  sessionId!: string;

  /** The name of the session at that time. */
  @Column('text', { name: 'session_name', nullable: true }) sessionName!: string | null;

  /** Opaque to the server; null = a denial without a key, or a rejected answer. */
  @Column('text', { nullable: true }) sealed!: string | null;

  /** SHA-256 of the answer. */
  @Column('bytea', { name: 'answer_hash' }) answerHash!: Buffer;
  @Column('timestamptz', { name: 'answered_at' }) answeredAt!: Date;

  /** Time at which the asking session rejected the answer. */
  @Column('timestamptz', { name: 'rejected_at', nullable: true }) rejectedAt!: Date | null;
}
