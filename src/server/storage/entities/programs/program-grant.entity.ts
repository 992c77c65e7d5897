import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { CertificateRecord } from '../../../../core/policy/certificate/certificate-record.js';

/**
 * The approval of a program: it may act for one account at one backend. The row begins with the code
 * of the approval, and is deleted when the grant ends: a trigger reports the end of its `sid`.
 */
@Entity('program_grant')
@Unique('program_grant_code_key', ['codeHash'])
@Index('program_grant_account_idx', ['accountId'])
@Index('program_grant_session_idx', ['sessionId'])
@Index('program_grant_sid_idx', ['sid'], { where: '(sid IS NOT NULL)' })
@Index('program_grant_expires_idx', ['expiresAt'])
@Index('program_grant_judge_idx', ['judgeAt'], { where: '(judge_at IS NOT NULL)' })
@Index('program_grant_rules_idx', ['resourceServer', 'rules'])
@Index('program_grant_provider_session_idx', ['providerSession'], {
  where: '(provider_session IS NOT NULL)',
})
export class ProgramGrantEntity {
  @PrimaryColumn('uuid') id!: string;

  /** No foreign key: the trigger of the account's deletion ends the grant, and reports it. */
  @Column('uuid') accountId!: string;

  /** The id of the configured backend. */
  @Column('text') resourceServer!: string;

  /** The program, its name and its address as they were approved; a file has no address. */
  @Column('text') clientId!: string;
  @Column('text') clientName!: string;
  @Column('text') redirectUri!: string;

  @Column('text', { default: 'code' }) kind!: 'code' | 'file';
  @Column('text', { array: true }) scopes!: string[];

  /** The session at the backend that tokens name; null = no token yet, or refused for now. */
  @Column('uuid', { nullable: true }) sid!: string | null;

  /** The code with which the account is refused for now; null = it is admitted. */
  @Column('text', { nullable: true }) refusal!: string | null;

  /** As of a session at a backend. */
  @Column('timestamptz', { nullable: true }) judgeAt!: Date | null;
  @Column('text', { default: '' }) rules!: string;
  @Column('bigint', { nullable: true }) txn!: string | null;

  /** A replica did not accept it then, and none that accepts it has looked since; null = accepted. */
  @Column('timestamptz', { nullable: true }) unacceptedAt!: Date | null;

  /** The approving session, and the login that it rests on. */
  @Column('uuid') sessionId!: string;
  @Column('timestamptz') authenticatedAt!: Date;
  @Column('text') authenticatedBy!: string;
  @Column('bytea', { nullable: true }) providerSession!: Buffer | null;
  @Column('jsonb', { nullable: true }) certificate!: CertificateRecord | null;

  /** Time and address of the approval. */
  @Column('timestamptz') createdAt!: Date;
  @Column('text', { nullable: true }) address!: string | null;

  /** Until the code is used, its expiry; then {@link grantedUntil}. */
  @Column('timestamptz') expiresAt!: Date;
  @Column('timestamptz') grantedUntil!: Date;

  /** SHA-256 of the code, and its challenge (RFC 7636). */
  @Column('bytea', { nullable: true }) codeHash!: Buffer | null;
  @Column('text', { nullable: true }) codeChallenge!: string | null;
  @Column('timestamptz', { nullable: true }) codeUsedAt!: Date | null;

  @Column('timestamptz') lastUsedAt!: Date;
  @Column('text', { nullable: true }) lastAddress!: string | null;

  /** The sealed key that makes the refresh tokens; null until the code is used. */
  @Column('bytea', { nullable: true }) refreshKey!: Buffer | null;

  /** The number of the newest refresh token, and when the last ones before it were superseded. */
  @Column('integer', { default: 0 }) generation!: number;
  @Column('timestamptz', { array: true, default: '{}' }) supersededAt!: Date[];
}
