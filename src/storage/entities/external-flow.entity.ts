import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** An authorization on its way through the browser: from the redirect to its return. */
@Entity('external_flow')
@Index('external_flow_expires_idx', ['expiresAt'])
export class ExternalFlowEntity {
  /** SHA-256 of `state`: who reads the table cannot finish a flow. */
  @PrimaryColumn('bytea', { name: 'state_hash', primaryKeyConstraintName: 'external_flow_pkey' })
  stateHash!: Buffer;

  /** Sealed for the hash. */
  @Column('bytea')
  contents!: Buffer;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}

/** A proven identity that its client has not fetched yet: from the return to the finalize call. */
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
  @Column('bytea')
  contents!: Buffer;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}
