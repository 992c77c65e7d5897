import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import type {
  EligibilityFacts,
  EligibilityStatus,
} from '../../../core/policy/eligibility/eligibility.js';
import { AccountEntity } from './account.entity.js';

/** One account's identity at one provider, with the cached result of its last re-check. */
@Entity('identity')
@Unique('identity_account_provider_key', ['accountId', 'provider'])
@Unique('identity_provider_subject_key', ['provider', 'subject'])
@Index('identity_next_check_idx', ['provider', 'eligibilityNextCheckAt'])
@Index('identity_ineligible_idx', ['accountId'], {
  where: `("eligibility_status" = 'ineligible'::text)`,
})
// An index of expressions: TypeORM cannot declare it, so the migration creates it.
@Index('identity_login_idx', { synchronize: false })
@Index('identity_email_idx', { synchronize: false })
@Index('identity_folded_login_idx', { synchronize: false })
@Index('identity_folded_email_idx', { synchronize: false })
@Index('identity_oid_idx', { synchronize: false })
@Index('identity_certificate_subject_idx', { synchronize: false })
@Index('identity_answered_idx', { synchronize: false })
export class IdentityEntity {
  @PrimaryColumn('uuid') id!: string;

  @Column('uuid')
  @ForeignKey(() => AccountEntity, { onDelete: 'CASCADE' })
  accountId!: string;

  @Column('text') provider!: string;

  /** The provider's immutable id: GitHub's numeric id, OIDC's `sub`. */
  @Column('text') subject!: string;

  /** Issuer of the subject; null = linked before issuers were stored, or a certificate. */
  @Column('text', { nullable: true }) issuer!: string | null;
  @Column('text', { nullable: true }) login!: string | null;
  @Column('timestamptz') connectedAt!: Date;
  @Column('text', { default: 'unknown' }) eligibilityStatus!: EligibilityStatus;
  @Column('text', { nullable: true }) eligibilityReason!: string | null;
  @Column('timestamptz', { nullable: true }) eligibilityCheckedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) eligibilityNextCheckAt!: Date | null;

  /** Credentials for a re-check, such as a refresh token, sealed for this account and provider. */
  @Column('bytea', { nullable: true }) credentials!: Buffer | null;

  /** The provider's last answer. Changed rules can be tested on it without another request. */
  @Column('jsonb', { nullable: true }) facts!: EligibilityFacts | null;

  /**
   * The last presented certificate; null = not a certificate, or linked before certificates were
   * stored.
   */
  @Column('jsonb', { nullable: true }) certificate!: CertificateRecord | null;
  @Column('integer', { default: 0 }) consecutiveFailures!: number;

  /** End of the lease: until then, one replica re-checks the identity and the others skip it. */
  @Column('timestamptz', { nullable: true }) leaseUntil!: Date | null;
}
