import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AccountEntity } from './account.entity.js';

/** A token that was logged out before its time. Kept until it would have expired anyway. */
@Entity('token_revocation')
@Index('token_revocation_expires_idx', ['expiresAt'])
export class TokenRevocationEntity {
  @PrimaryColumn('uuid', { name: 'token_id', primaryKeyConstraintName: 'token_revocation_pkey' })
  tokenId!: string;

  @Column('uuid', { name: 'account_id' })
  @ForeignKey(() => AccountEntity, { name: 'token_revocation_account_fkey', onDelete: 'CASCADE' })
  accountId!: string;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}
