import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The last signal of a kind that a provider sent, for operators who ask if any arrive. */
@Entity('provider_signal')
export class ProviderSignalEntity {
  @PrimaryColumn('text') provider!: string;

  /** One of `PROVIDER_SIGNAL_KINDS`. */
  @PrimaryColumn('text') kind!: string;
  @Column('timestamptz') receivedAt!: Date;
}
