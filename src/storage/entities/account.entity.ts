import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { AccountMode, KeyMode } from '../../policy/operator-policy.js';
import type { ContentForm } from '../sealing/content-at-rest.service.js';

@Entity('account')
@Unique('account_public_key_key', ['publicKey'])
@Index('account_disabled_idx', ['id'], { where: '("disabled_at" IS NOT NULL)' })
// An index of an expression: TypeORM cannot declare it, so the migration creates it.
@Index('account_seen_idx', { synchronize: false })
export class AccountEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'account_pkey' }) id!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('text', { name: 'key_mode' }) keyMode!: KeyMode;

  @Column('bytea', { name: 'public_key', nullable: true }) publicKey!: Buffer | null;
  @Column('text', { name: 'encryption_mode' }) encryptionMode!: AccountMode;

  /** Tokens of an older epoch are revoked. */
  @Column('integer', { name: 'token_epoch', default: 0 }) tokenEpoch!: number;
  @Column('timestamptz', { name: 'disabled_at', nullable: true }) disabledAt!: Date | null;

  /** The newest use of a session, ended ones included; null = none since the account was created. */
  @Column('timestamptz', { name: 'last_seen_at', nullable: true }) lastSeenAt!: Date | null;

  /** `seq` of the newest update sent to this account's clients. */
  @Column('bigint', { name: 'update_seq', default: 0 }) updateSeq!: string;

  /** null = unchanged since the account was created. */
  @Column('timestamptz', { name: 'encryption_mode_changed_at', nullable: true })
  encryptionModeChangedAt!: Date | null;

  @Column('text', { name: 'settings_form', nullable: true }) settingsForm!: ContentForm | null;

  /** The settings document. It is a column of the account, so that one statement writes both. */
  @Column('bytea', { name: 'settings_content', nullable: true }) settingsContent!: Buffer | null;

  @Column('integer', { name: 'settings_version', default: 0 }) settingsVersion!: number;
}
