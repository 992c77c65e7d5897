import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { AccountMode, KeyMode } from '../../policy/operator-policy.js';
import type { ContentForm } from '../sealing/content-at-rest.js';

@Entity('account')
@Unique('account_public_key_key', ['publicKey'])
@Index('account_disabled_idx', ['id'], { where: '("disabled_at" IS NOT NULL)' })
export class AccountEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'account_pkey' }) id!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('text', { name: 'key_mode' }) keyMode!: KeyMode;

  /** The raw 32-byte Ed25519 key; null for keyless accounts. */
  @Column('bytea', { name: 'public_key', nullable: true }) publicKey!: Buffer | null;
  @Column('text', { name: 'encryption_mode' }) encryptionMode!: AccountMode;

  /** Tokens of an older epoch are revoked. */
  @Column('integer', { name: 'token_epoch', default: 0 }) tokenEpoch!: number;
  @Column('timestamptz', { name: 'disabled_at', nullable: true }) disabledAt!: Date | null;

  /** `seq` of the newest update sent to this account's clients. */
  @Column('bigint', { name: 'update_seq', default: 0 }) updateSeq!: string;

  /** null = since the account was made. */
  @Column('timestamptz', { name: 'encryption_mode_changed_at', nullable: true })
  encryptionModeChangedAt!: Date | null;

  @Column('text', { name: 'settings_form', nullable: true }) settingsForm!: ContentForm | null;

  /** The settings document; here, and not in a table of its own, so that one statement writes it. */
  @Column('bytea', { name: 'settings_content', nullable: true }) settingsContent!: Buffer | null;

  /** Grows by one with every write. */
  @Column('integer', { name: 'settings_version', default: 0 }) settingsVersion!: number;
}
