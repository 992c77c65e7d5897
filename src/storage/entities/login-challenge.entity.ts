import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A challenge this server handed out and nobody has used yet. */
@Entity('login_challenge')
@Index('login_challenge_expires_idx', ['expiresAt'])
export class LoginChallengeEntity {
  @PrimaryColumn('bytea', { primaryKeyConstraintName: 'login_challenge_pkey' })
  challenge!: Buffer;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}
