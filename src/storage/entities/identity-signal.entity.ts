import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { SignalSource } from '../../policy/eligibility/signals.js';

/**
 * The newest word of one source about a person of a provider. It exists without an account, and
 * outlives both the account and the person of the directory.
 */
@Entity('identity_signal')
@Index('identity_signal_refused_idx', ['provider', 'at'], { where: '(NOT is_allowed)' })
export class IdentitySignalEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'identity_signal_pkey' }) provider!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'identity_signal_pkey' }) subject!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'identity_signal_pkey' })
  source!: SignalSource;

  @Column('boolean', { name: 'is_allowed' }) isAllowed!: boolean;
  @Column('timestamptz') at!: Date;
}

/**
 * The newest security event about the account of an e-mail address that no identity has. The first
 * login with the address takes it over to its subject.
 */
@Entity('email_signal')
export class EmailSignalEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'email_signal_pkey' }) provider!: string;

  /** SHA-256 of the address in lower case: the person may never have used this server. */
  @PrimaryColumn('bytea', { name: 'email_hash', primaryKeyConstraintName: 'email_signal_pkey' })
  emailHash!: Buffer;

  @Column('boolean', { name: 'is_allowed' }) isAllowed!: boolean;
  @Column('timestamptz') at!: Date;
}
