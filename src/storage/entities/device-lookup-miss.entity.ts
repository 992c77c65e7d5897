import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AccountEntity } from './account.entity.js';

/** A look-up of a user code that found no device: for as long as a code is valid. */
@Entity('device_lookup_miss')
@Index('device_lookup_miss_account_idx', ['accountId', 'expiresAt'])
@Index('device_lookup_miss_address_idx', ['addressGroup', 'expiresAt'])
@Index('device_lookup_miss_expires_idx', ['expiresAt'])
export class DeviceLookupMissEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'device_lookup_miss_pkey' }) id!: string;

  @Column('uuid', { name: 'account_id' })
  @ForeignKey(() => AccountEntity, {
    name: 'device_lookup_miss_account_fkey',
    onDelete: 'CASCADE',
  })
  accountId!: string;

  /** The address, or the network of an IPv6 one. */
  @Column('text', { name: 'address_group' }) addressGroup!: string;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}
