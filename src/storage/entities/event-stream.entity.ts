import { Column, Entity, Index, ManyToOne, JoinColumn, PrimaryColumn } from 'typeorm';

/** A reader of a backend's events. */
@Entity('event_stream')
@Index('event_stream_polled_idx', ['resourceServer', 'polledAt'])
export class EventStreamEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'event_stream_pkey' }) id!: string;

  @Column('text', { name: 'resource_server' }) resourceServer!: string;
  @Column('text', { nullable: true }) description!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'polled_at' }) polledAt!: Date;

  /** The last request for a verification. */
  @Column('timestamptz', { name: 'verified_at', nullable: true }) verifiedAt!: Date | null;

  /** Every event of earlier transactions is acknowledged. */
  @Column('bigint') position!: string;
}

/** An acknowledged event that is not before the position of its stream. */
@Entity('event_acknowledgement')
export class EventAcknowledgementEntity {
  @PrimaryColumn('uuid', {
    name: 'stream_id',
    primaryKeyConstraintName: 'event_acknowledgement_pkey',
  })
  streamId!: string;

  @ManyToOne(() => EventStreamEntity, { onDelete: 'CASCADE' })
  @JoinColumn({
    name: 'stream_id',
    foreignKeyConstraintName: 'event_acknowledgement_stream_fkey',
  })
  stream?: EventStreamEntity;

  @PrimaryColumn('uuid', {
    name: 'event_id',
    primaryKeyConstraintName: 'event_acknowledgement_pkey',
  })
  eventId!: string;

  @Column('bigint') xid!: string;
}
