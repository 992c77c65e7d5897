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
