import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { AccountMode, KeyMode } from '../../../core/policy/operator-policy.js';
import type { ContentForm } from '../sealing/content-at-rest.service.js';

@Entity('account')
@Unique('account_public_key_key', ['publicKey'])
@Index('account_disabled_idx', ['id'], { where: '("disabled_at" IS NOT NULL)' })
// An index of an expression: TypeORM cannot declare it, so the migration creates it.
@Index('account_seen_idx', { synchronize: false })
export class AccountEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('timestamptz') createdAt!: Date;
  @Column('text') keyMode!: KeyMode;
  @Column('bytea', { nullable: true }) publicKey!: Buffer | null;
  @Column('text') encryptionMode!: AccountMode;

  /** Tokens of an older epoch are revoked. */
  @Column('integer', { default: 0 }) tokenEpoch!: number;
  @Column('timestamptz', { nullable: true }) disabledAt!: Date | null;

  /** The newest use of a session, ended ones included; null = none since the account was created. */
  @Column('timestamptz', { nullable: true }) lastSeenAt!: Date | null;

  /** `seq` of the newest update sent to this account's clients. */
  @Column('bigint', { default: 0 }) updateSeq!: string;

  /** null = unchanged since the account was created. */
  @Column('timestamptz', { nullable: true }) encryptionModeChangedAt!: Date | null;
  @Column('text', { nullable: true }) settingsForm!: ContentForm | null;

  /** The settings document. It is a column of the account, so that one statement writes both. */
  @Column('bytea', { nullable: true }) settingsContent!: Buffer | null;
  @Column('integer', { default: 0 }) settingsVersion!: number;
}
