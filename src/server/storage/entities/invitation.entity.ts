import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

/** A code that allows new device keys to sign up. */
@Entity('invitation')
@Unique('invitation_code_hash_key', ['codeHash'])
@Check('invitation_uses_check', '(("used" >= 0) AND ("used" <= "uses"))')
@Index('invitation_expires_idx', ['expiresAt'])
@Index('invitation_created_idx', ['createdAt', 'id'])
export class InvitationEntity {
  @PrimaryColumn('uuid') id!: string;

  /** SHA-256 of the code: reading the table is not enough to sign up. */
  @Column('bytea') codeHash!: Buffer;
  @Column('text', { nullable: true }) note!: string | null;
  @Column('integer') uses!: number;

  /** Number of accounts that signed up with it, including deleted ones. */
  @Column('integer', { default: 0 }) used!: number;
  @Column('text') createdBy!: string;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
  @Column('timestamptz', { nullable: true }) revokedAt!: Date | null;
}
