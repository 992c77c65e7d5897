import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { AccountEntity } from './account.entity.js';

@Entity('push_token')
@Unique('push_token_account_token_key', ['accountId', 'tokenHash'])
@Index('push_token_account_updated_idx', ['accountId', 'updatedAt'])
export class PushTokenEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'push_token_pkey' }) id!: string;

  @Column('uuid', { name: 'account_id' })
  @ForeignKey(() => AccountEntity, { name: 'push_token_account_fkey', onDelete: 'CASCADE' })
  accountId!: string;

  @Column('text') token!: string;

  /** SHA-256 of the token, because a long token exceeds the size of an index entry. */
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;

  @Column('text', { name: 'client_server_url', nullable: true }) clientServerUrl!: string | null;

  @Column('text', { nullable: true }) name!: string | null;
  @Column('text', { nullable: true }) platform!: string | null;

  /** The session that saved it last; no foreign key: it outlives one that expires. */
  @Column('uuid', { name: 'session_id', nullable: true, select: false }) sessionId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
