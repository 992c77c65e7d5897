import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { CertificateRecord } from '../../policy/certificate/certificate-record.js';
import { AccountEntity } from './account.entity.js';

/** One login. Its token is valid while this row exists. */
@Entity('session')
@Index('session_account_idx', ['accountId'])
@Index('session_expires_idx', ['expiresAt'])
@Index('session_provider_session_idx', ['providerSession'], {
  where: '("provider_session" IS NOT NULL)',
})
export class SessionEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'session_pkey' }) id!: string;

  @Column('uuid', { name: 'account_id' })
  @ForeignKey(() => AccountEntity, { name: 'session_account_fkey', onDelete: 'CASCADE' })
  accountId!: string;

  /**
   * The account's epoch at the login. A login that ran during a revocation of all sessions has an
   * older one.
   */
  @Column('integer', { name: 'token_epoch' }) tokenEpoch!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;

  /** Written every few minutes. Not indexed, so that a write touches no index. */
  @Column('timestamptz', { name: 'last_seen_at' }) lastSeenAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;

  /** `key_challenge`, `mtls`, `device` or a provider's id. */
  @Column('text') method!: string;
  @Column('text', { name: 'client_name', nullable: true }) clientName!: string | null;
  @Column('text', { name: 'client_platform', nullable: true }) clientPlatform!: string | null;
  @Column('text', { nullable: true }) address!: string | null;

  /** Hash of the provider's session of the login; null where the provider named none. */
  @Column('bytea', { name: 'provider_session', nullable: true }) providerSession!: Buffer | null;

  /** The certificate that the login presented; null = none, or created before this column. */
  @Column('jsonb', { nullable: true, select: false }) certificate!: CertificateRecord | null;

  /** When the login authenticated that vouched for this session; null = this one did, at its start. */
  @Column('timestamptz', { name: 'authenticated_at', nullable: true })
  authenticatedAt!: Date | null;

  /** The method of that login; null = `method`. */
  @Column('text', { name: 'authenticated_by', nullable: true }) authenticatedBy!: string | null;
}
