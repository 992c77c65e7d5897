import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

/** A code with which new device keys sign up. */
@Entity('invitation')
@Unique('invitation_code_hash_key', ['codeHash'])
@Check('invitation_uses_check', '(("used" >= 0) AND ("used" <= "uses"))')
@Index('invitation_expires_idx', ['expiresAt'])
@Index('invitation_created_idx', ['createdAt', 'id'])
export class InvitationEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'invitation_pkey' }) id!: string;

  /** SHA-256 of the code: reading the table is not enough to sign up. */
  @Column('bytea', { name: 'code_hash' }) codeHash!: Buffer;

  @Column('text', { nullable: true }) note!: string | null;

  /** Accounts that it may make. */
  @Column('integer') uses!: number;

  /** Accounts that it made; one that was deleted still counts. */
  @Column('integer', { default: 0 }) used!: number;

  /** The name of an operator. */
  @Column('text', { name: 'created_by' }) createdBy!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
}
