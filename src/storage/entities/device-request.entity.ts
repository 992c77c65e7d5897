import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AccountEntity } from './account.entity.js';

/** A new device asking an old one for the account's secret (contract, Adding a device). */
@Entity('device_request')
@Index('device_request_expires_idx', ['expiresAt'])
export class DeviceRequestEntity {
  /** The new device's throw-away X25519 key. */
  @PrimaryColumn('bytea', { name: 'public_key', primaryKeyConstraintName: 'device_request_pkey' })
  publicKey!: Buffer;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('uuid', { name: 'account_id', nullable: true })
  @ForeignKey(() => AccountEntity, { name: 'device_request_account_fkey', onDelete: 'CASCADE' })
  accountId!: string | null;

  /** The account's secret, sealed to the new device's key: opaque to the server. */
  @Column('text', { nullable: true })
  response!: string | null;
}
