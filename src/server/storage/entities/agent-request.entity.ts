import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { ContentForm } from '../sealing/content-at-rest.service.js';
import { AccountEntity } from './account.entity.js';

/** A request of a program to the person, such as the permission that a coding agent asks for. */
@Entity('agent_request')
@Unique('agent_request_account_request_key', ['accountId', 'requestId'])
@Index('agent_request_open_expires_idx', ['expiresAt'], { where: `(state = 'open'::text)` })
@Index('agent_request_kept_until_idx', ['keptUntil'])
export class AgentRequestEntity {
  @PrimaryColumn('uuid') id!: string;

  @Column('uuid')
  @ForeignKey(() => AccountEntity, { onDelete: 'CASCADE' })
  accountId!: string;

  /** 128 random bits of the program, in base64url. */
  @Column('text') requestId!: string;

  /** The session that asked; no foreign key: the request outlives it. */
  @Column('uuid') sessionId!: string;

  /** null once the request is closed, as is the content. */
  @Column('text', { nullable: true }) form!: ContentForm | null;
  @Column('bytea', { nullable: true }) content!: Buffer | null;

  /** SHA-256 of the content, which recognizes the same request after it was closed. */
  @Column('bytea') contentHash!: Buffer;

  /** A request whose time is over stays `open` until a job changes it. */
  @Column('text', { default: 'open' }) state!: 'open' | 'answered' | 'withdrawn' | 'expired';
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
  @Column('timestamptz', { nullable: true }) closedAt!: Date | null;

  /** The row is deleted then. */
  @Column('timestamptz') keptUntil!: Date;
}

/** The first answer of one session to a request. */
@Entity('request_answer')
export class RequestAnswerEntity {
  @PrimaryColumn('uuid')
  @ForeignKey(() => AgentRequestEntity, { onDelete: 'CASCADE' })
  request!: string;

  @PrimaryColumn('uuid') sessionId!: string;

  /** The name of the session at that time. */
  @Column('text', { nullable: true }) sessionName!: string | null;

  /** Opaque to the server; null = a denial without a key, or a rejected answer. */
  @Column('text', { nullable: true }) sealed!: string | null;

  /** SHA-256 of the answer. */
  @Column('bytea') answerHash!: Buffer;
  @Column('timestamptz') answeredAt!: Date;

  /** Time at which the asking session rejected the answer. */
  @Column('timestamptz', { nullable: true }) rejectedAt!: Date | null;
}
