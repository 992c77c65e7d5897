import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import { AccountEntity } from './account.entity.js';

/** One login. Its token is valid while this row exists. */
@Entity('session')
@Index('session_account_idx', ['accountId'])
@Index('session_expires_idx', ['expiresAt'])
@Index('session_provider_session_idx', ['providerSession'], {
  where: '("provider_session" IS NOT NULL)',
})
export class SessionEntity {
  @PrimaryColumn('uuid') id!: string;

  @Column('uuid')
  @ForeignKey(() => AccountEntity, { onDelete: 'CASCADE' })
  accountId!: string;

  /**
   * The account's epoch at the login. A login that ran during a revocation of all sessions has an
   * older one.
   */
  @Column('integer') tokenEpoch!: number;
  @Column('timestamptz') createdAt!: Date;

  /** Written every few minutes. Not indexed, so that a write touches no index. */
  @Column('timestamptz') lastSeenAt!: Date;
  @Column('timestamptz') expiresAt!: Date;

  /** `key_challenge`, `mtls`, `device` or a provider's id. */
  @Column('text') method!: string;
  @Column('text', { nullable: true }) clientName!: string | null;
  @Column('text', { nullable: true }) clientPlatform!: string | null;
  @Column('text', { nullable: true }) address!: string | null;

  /** Hash of the provider's session of the login; null where the provider named none. */
  @Column('bytea', { nullable: true }) providerSession!: Buffer | null;

  /** The certificate that the login presented; null = none, or created before this column. */
  @Column('jsonb', { nullable: true, select: false }) certificate!: CertificateRecord | null;

  /** When the login authenticated that vouched for this session; null = this one did, at its start. */
  @Column('timestamptz', { nullable: true }) authenticatedAt!: Date | null;

  /** The method of that login; null = `method`. */
  @Column('text', { nullable: true }) authenticatedBy!: string | null;
}
