import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { AccountEntity } from './account.entity.js';

@Entity('push_token')
@Unique('push_token_account_token_key', ['accountId', 'tokenHash'])
@Index('push_token_account_updated_idx', ['accountId', 'updatedAt'])
export class PushTokenEntity {
  @PrimaryColumn('uuid') id!: string;

  @Column('uuid')
  @ForeignKey(() => AccountEntity, { onDelete: 'CASCADE' })
  accountId!: string;

  @Column('text') token!: string;

  /** SHA-256 of the token, because a long token exceeds the size of an index entry. */
  @Column('bytea') tokenHash!: Buffer;
  @Column('text', { nullable: true }) clientServerUrl!: string | null;
  @Column('text', { nullable: true }) name!: string | null;
  @Column('text', { nullable: true }) platform!: string | null;

  /** The session that saved it last; no foreign key: it outlives one that expires. */
  @Column('uuid', { nullable: true, select: false }) sessionId!: string | null;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') updatedAt!: Date;
}
