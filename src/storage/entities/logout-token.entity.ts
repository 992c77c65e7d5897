import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A logout token that was used, so that it passes once. */
@Entity('logout_token')
@Index('logout_token_expires_idx', ['expiresAt'])
export class LogoutTokenEntity {
  /** SHA-256 of provider and `jti`. */
  @PrimaryColumn('bytea', { name: 'token_hash', primaryKeyConstraintName: 'logout_token_pkey' })
  tokenHash!: Buffer;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}
