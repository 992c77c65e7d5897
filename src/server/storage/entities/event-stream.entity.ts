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

  /** Every event of earlier transactions is acknowledged, and none of them is open. */
  @Column('bigint') position!: string;

  /** Every event before this transaction and id is acknowledged, but those of `openXids`. */
  @Column('bigint', { default: '0' }) cursorXid!: string;
  @Column('uuid', { default: '00000000-0000-0000-0000-000000000000' }) cursorId!: string;

  /** Transactions before the cursor that were open, or have an event to deliver, in their order. */
  @Column('bigint', { array: true, default: '{}' }) openXids!: string[];
}

/** An acknowledged event that the cursor of its stream has not passed. */
@Entity('event_acknowledgement')
export class EventAcknowledgementEntity {
  @PrimaryColumn('uuid')
  @ForeignKey(() => EventStreamEntity, { onDelete: 'CASCADE' })
  streamId!: string;

  @PrimaryColumn('uuid') eventId!: string;
  @Column('bigint') xid!: string;
}
