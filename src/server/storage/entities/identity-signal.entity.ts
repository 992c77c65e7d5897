import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { SignalSource } from '../../../core/policy/eligibility/signals.js';

/**
 * The newest word of one source about a person of a provider. It exists without an account, and
 * outlives both the account and the person of the directory.
 */
@Entity('identity_signal')
@Index('identity_signal_refused_idx', ['provider', 'at'], { where: '(NOT is_allowed)' })
@Index('identity_signal_login_idx', ['at'], {
  where: "((source = 'sign-out'::text) AND is_allowed)",
})
export class IdentitySignalEntity {
  @PrimaryColumn('text') provider!: string;
  @PrimaryColumn('text') subject!: string;
  @PrimaryColumn('text')
  source!: SignalSource;

  @Column('boolean') isAllowed!: boolean;
  @Column('timestamptz') at!: Date;

  /** The person of the directory whose word it is; null = of another source, or of an earlier version. */
  @Column('uuid', { nullable: true }) personId!: string | null;
}

/**
 * The newest security event about the account of an e-mail address that no identity has. The first
 * login with the address takes it over to its subject.
 */
@Entity('email_signal')
export class EmailSignalEntity {
  @PrimaryColumn('text') provider!: string;

  /** SHA-256 of the address in lower case: the person may never have used this server. */
  @PrimaryColumn('bytea') emailHash!: Buffer;
  @Column('boolean') isAllowed!: boolean;
  @Column('timestamptz') at!: Date;
}
