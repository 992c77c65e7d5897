import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The stream of security events that `gatehouse signals connect` made at a provider's transmitter. */
@Entity('signal_stream')
export class SignalStreamEntity {
  @PrimaryColumn('text') provider!: string;

  /** A stream of another transmitter than the configured one is ignored. */
  @Column('text') transmitter!: string;
  @Column('text') streamId!: string;
  @Column('text', { array: true }) audiences!: readonly string[];

  /** The address that is polled; null = the transmitter pushes. */
  @Column('text', { nullable: true }) pollUrl!: string | null;

  /** SSF 1.0, 8.1.2; `missing`: the transmitter does not know the stream any more. */
  @Column('text') status!: 'enabled' | 'paused' | 'disabled' | 'missing';
  @Column('text', { nullable: true }) reason!: string | null;

  /** The transmitter repeats it in its verification events. */
  @Column('text') verificationState!: string;
  @Column('timestamptz') connectedAt!: Date;

  /** The last verification event, or the last answered poll. */
  @Column('timestamptz') seenAt!: Date;
  @Column('timestamptz', { nullable: true }) verifiedAt!: Date | null;

  /** The last failure of a request to the transmitter; null = the last one was answered. */
  @Column('text', { nullable: true }) failure!: string | null;
  @Column('timestamptz') checkAt!: Date;

  /** The replica that polls. */
  @Column('uuid', { nullable: true }) leasedBy!: string | null;
  @Column('timestamptz', { nullable: true }) leasedUntil!: Date | null;
}
