import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { ContentForm } from '../sealing/content-at-rest.service.js';
import { AccountEntity } from './account.entity.js';

@Entity('account_credential')
export class AccountCredentialEntity {
  @PrimaryColumn('uuid', {
    name: 'account_id',
    primaryKeyConstraintName: 'account_credential_pkey',
  })
  @ForeignKey(() => AccountEntity, {
    name: 'account_credential_account_fkey',
    onDelete: 'CASCADE',
  })
  accountId!: string;

  @PrimaryColumn('text', { primaryKeyConstraintName: 'account_credential_pkey' }) service!: string;
  @Column('text') form!: ContentForm;
  @Column('bytea') content!: Buffer;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
