import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { AccountEntity } from './account.entity.js';

/** A request of a new device to join an account (contract, Adding a device). */
@Entity('device_authorization')
@Unique('device_authorization_user_code_key', ['userCode'])
@Index('device_authorization_expires_idx', ['expiresAt'])
export class DeviceAuthorizationEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') userCode!: string;
  @Column('bytea') publicKey!: Buffer;

  /** SHA-256 of the secret that fetches the token. */
  @Column('bytea') proofHash!: Buffer;
  @Column('text', { nullable: true }) clientName!: string | null;
  @Column('text', { nullable: true }) clientPlatform!: string | null;
  @Column('text', { nullable: true }) address!: string;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
  @Column('timestamptz', { nullable: true }) polledAt!: Date | null;
  @Column('text', { default: 'pending' }) state!: 'pending' | 'approved' | 'refused';

  @Column('uuid', { nullable: true })
  @ForeignKey(() => AccountEntity, { onDelete: 'CASCADE' })
  accountId!: string | null;

  /** The approving session. The approval is valid only while that session exists. */
  @Column('uuid', { nullable: true }) approvedBy!: string | null;

  /** The account, sealed to the new device: opaque to the server. null = not approved. */
  @Column('text', { nullable: true }) sealed!: string | null;
}
