import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A reader of a backend's events. */
@Entity('event_stream')
@Index('event_stream_polled_idx', ['resourceServer', 'polledAt'])
export class EventStreamEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') resourceServer!: string;
  @Column('text', { nullable: true }) description!: string | null;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') polledAt!: Date;

  /** The last request for a verification. */
  @Column('timestamptz', { nullable: true }) verifiedAt!: Date | null;

  /** Every event of earlier transactions is acknowledged. */
  @Column('bigint') position!: string;
}

/** An acknowledged event that is not before the position of its stream. */
@Entity('event_acknowledgement')
export class EventAcknowledgementEntity {
  @PrimaryColumn('uuid')
  @ForeignKey(() => EventStreamEntity, { onDelete: 'CASCADE' })
  streamId!: string;

  @PrimaryColumn('uuid') eventId!: string;
  @Column('bigint') xid!: string;
}
