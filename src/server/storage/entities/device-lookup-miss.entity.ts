import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AccountEntity } from './account.entity.js';

/** A look-up of a user code that found no device: for as long as a code is valid. */
@Entity('device_lookup_miss')
@Index('device_lookup_miss_account_idx', ['accountId', 'expiresAt'])
@Index('device_lookup_miss_address_idx', ['addressGroup', 'expiresAt'])
@Index('device_lookup_miss_expires_idx', ['expiresAt'])
export class DeviceLookupMissEntity {
  @PrimaryColumn('uuid') id!: string;

  @Column('uuid')
  @ForeignKey(() => AccountEntity, { onDelete: 'CASCADE' })
  accountId!: string;

  /** The address, or the network of an IPv6 one. */
  @Column('text') addressGroup!: string;
  @Column('timestamptz') expiresAt!: Date;
}
