import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A directory that has shown an active person. It stays when the directory becomes empty: a required
 * one then refuses everyone.
 */
@Entity('directory')
export class DirectoryEntity {
  @PrimaryColumn('text') provider!: string;
  @Column('timestamptz') firstActiveAt!: Date;
}

/** The first id that a provider gave for the name of an organisation in the rules. */
@Entity('organization')
export class OrganizationEntity {
  @PrimaryColumn('text') provider!: string;

  /** Ids of one issuer mean nothing at another one. */
  @PrimaryColumn('text') issuer!: string;

  /** Lower case. */
  @PrimaryColumn('text') name!: string;
  @Column('text') organizationId!: string;
  @Column('timestamptz') firstSeenAt!: Date;
}
