import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { ContentForm } from '../sealing/content-at-rest.service.js';
import { AccountEntity } from './account.entity.js';

@Entity('account_credential')
export class AccountCredentialEntity {
  @PrimaryColumn('uuid')
  @ForeignKey(() => AccountEntity, { onDelete: 'CASCADE' })
  accountId!: string;

  @PrimaryColumn('text') service!: string;
  @Column('text') form!: ContentForm;
  @Column('bytea') content!: Buffer;
  @Column('timestamptz') updatedAt!: Date;
}
