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
