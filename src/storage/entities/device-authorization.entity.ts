import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { AccountEntity } from './account.entity.js';

/** A request of a new device to join an account (contract, Adding a device). */
@Entity('device_authorization')
@Unique('device_authorization_user_code_key', ['userCode'])
@Index('device_authorization_expires_idx', ['expiresAt'])
export class DeviceAuthorizationEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'device_authorization_pkey' }) id!: string;
  @Column('text', { name: 'user_code' }) userCode!: string;

  @Column('bytea', { name: 'public_key' }) publicKey!: Buffer;

  /** SHA-256 of the secret that fetches the token. */
  @Column('bytea', { name: 'proof_hash' }) proofHash!: Buffer;
  @Column('text', { name: 'client_name', nullable: true }) clientName!: string | null;
  @Column('text', { name: 'client_platform', nullable: true }) clientPlatform!: string | null;
  @Column('text', { nullable: true }) address!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'polled_at', nullable: true }) polledAt!: Date | null;
  @Column('text', { default: 'pending' }) state!: 'pending' | 'approved' | 'refused';

  @Column('uuid', { name: 'account_id', nullable: true })
  @ForeignKey(() => AccountEntity, {
    name: 'device_authorization_account_fkey',
    onDelete: 'CASCADE',
  })
  accountId!: string | null;

  /** The approving session. The approval is valid only while that session exists. */
  @Column('uuid', { name: 'approved_by', nullable: true }) approvedBy!: string | null;

  /** The account's secret, sealed to the new device's key: opaque to the server. */
  @Column('text', { nullable: true }) sealed!: string | null;
}
