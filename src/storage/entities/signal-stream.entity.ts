import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The stream of security events that `gatehouse signals connect` made at a provider's transmitter. */
@Entity('signal_stream')
export class SignalStreamEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'signal_stream_pkey' }) provider!: string;

  /** A stream of another transmitter than the configured one is ignored. */
  @Column('text') transmitter!: string;
  @Column('text', { name: 'stream_id' }) streamId!: string;
  @Column('text', { array: true }) audiences!: string[];

  /** The address that is polled; null = the transmitter pushes. */
  @Column('text', { name: 'poll_url', nullable: true }) pollUrl!: string | null;

  /** `enabled`, `paused`, `disabled`, or `missing` where the transmitter does not know it any more. */
  @Column('text') status!: string;
  @Column('text', { nullable: true }) reason!: string | null;

  /** The transmitter repeats it in its verification events. */
  @Column('text', { name: 'verification_state' }) verificationState!: string;
  @Column('timestamptz', { name: 'connected_at' }) connectedAt!: Date;

  /** The last verification event, or the last answered poll. */
  @Column('timestamptz', { name: 'seen_at' }) seenAt!: Date;
  @Column('timestamptz', { name: 'verified_at', nullable: true }) verifiedAt!: Date | null;

  /** The last failure of a request to the transmitter; null = the last one was answered. */
  @Column('text', { nullable: true }) failure!: string | null;
  @Column('timestamptz', { name: 'check_at' }) checkAt!: Date;

  /** The replica that polls. */
  @Column('uuid', { name: 'leased_by', nullable: true }) leasedBy!: string | null;
  @Column('timestamptz', { name: 'leased_until', nullable: true }) leasedUntil!: Date | null;
}
