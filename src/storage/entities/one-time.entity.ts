import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A challenge of this server that no login has used. */
@Entity('login_challenge')
@Index('login_challenge_expires_idx', ['expiresAt'])
export class LoginChallengeEntity {
  @PrimaryColumn('bytea', { primaryKeyConstraintName: 'login_challenge_pkey' }) challenge!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}

/** An authorization under way in the browser: from the redirect to the callback. */
@Entity('external_flow')
@Index('external_flow_expires_idx', ['expiresAt'])
export class ExternalFlowEntity {
  /** SHA-256 of `state`: reading the table is not enough to finish a flow. */
  @PrimaryColumn('bytea', { name: 'state_hash', primaryKeyConstraintName: 'external_flow_pkey' })
  stateHash!: Buffer;

  /** Sealed for the hash. */
  @Column('bytea') contents!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}

/** A proven identity that its client has not fetched: from the callback to the finalize call. */
@Entity('external_pending')
@Index('external_pending_expires_idx', ['expiresAt'])
export class ExternalPendingEntity {
  /** SHA-256 of `pending`. */
  @PrimaryColumn('bytea', {
    name: 'pending_hash',
    primaryKeyConstraintName: 'external_pending_pkey',
  })
  pendingHash!: Buffer;

  /** Sealed for the hash. */
  @Column('bytea') contents!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}

/** A logout token that was used: each is accepted once. */
@Entity('logout_token')
@Index('logout_token_expires_idx', ['expiresAt'])
export class LogoutTokenEntity {
  /** SHA-256 of provider and `jti`. */
  @PrimaryColumn('bytea', { name: 'token_hash', primaryKeyConstraintName: 'logout_token_pkey' })
  tokenHash!: Buffer;

  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}
