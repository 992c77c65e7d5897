import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A challenge of this server that no login has used yet. */
@Entity('login_challenge')
@Index('login_challenge_expires_idx', ['expiresAt'])
export class LoginChallengeEntity {
  @PrimaryColumn('bytea') challenge!: Buffer;
  @Column('timestamptz') expiresAt!: Date;
}

/** An authorization in progress in the browser, from the redirect to the callback. */
@Entity('external_flow')
@Index('external_flow_expires_idx', ['expiresAt'])
export class ExternalFlowEntity {
  /** SHA-256 of `state`: reading the table is not enough to finish a flow. */
  @PrimaryColumn('bytea') stateHash!: Buffer;

  /** Sealed with the hash as owner. */
  @Column('bytea') contents!: Buffer;
  @Column('timestamptz') expiresAt!: Date;
}

/**
 * A proven identity that its client has not fetched yet, from the callback to the finalize call.
 */
@Entity('external_pending')
@Index('external_pending_expires_idx', ['expiresAt'])
export class ExternalPendingEntity {
  @PrimaryColumn('bytea') pendingHash!: Buffer;

  /** Sealed with the hash as owner. */
  @Column('bytea') contents!: Buffer;
  @Column('timestamptz') expiresAt!: Date;
}

@Entity('logout_token')
@Index('logout_token_expires_idx', ['expiresAt'])
export class LogoutTokenEntity {
  /** SHA-256 of provider and `jti`. */
  @PrimaryColumn('bytea') tokenHash!: Buffer;
  @Column('timestamptz') expiresAt!: Date;
}

/** An assertion that authenticated a backend, kept until it could not be accepted again. */
@Entity('client_assertion')
@Index('client_assertion_expires_idx', ['expiresAt'])
export class ClientAssertionEntity {
  /** SHA-256 of the backend's id and `jti`. */
  @PrimaryColumn('bytea') assertionHash!: Buffer;
  @Column('timestamptz') expiresAt!: Date;
}

/** A sign-out that no identity or session has yet: a login that is being finished may store it. */
@Entity('waiting_sign_out')
@Index('waiting_sign_out_expires_idx', ['expiresAt'])
export class WaitingSignOutEntity {
  /** SHA-256 of the provider and what the sign-out names. */
  @PrimaryColumn('bytea') nameHash!: Buffer;
  @Column('timestamptz') at!: Date;
  @Column('timestamptz') expiresAt!: Date;
}
