import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { DirectoryEmail } from '../repositories/directory/directory-person.repository.js';

/** A person that the directory of a provider reports by SCIM, for deprovisioning alone. */
@Entity('directory_person')
@Index('directory_person_page_idx', ['provider', 'id'], { where: '(deleted_at IS NULL)' })
@Index('directory_person_unmatched_idx', ['provider', 'id'], {
  where: '((subject IS NULL) AND (deleted_at IS NULL))',
})
@Index('directory_person_external_idx', ['provider', 'externalId'])
@Index('directory_person_subject_key', ['provider', 'subject'], {
  unique: true,
  where: '(subject IS NOT NULL)',
})
// Indexes of expressions and of GIN: TypeORM cannot declare them, so the migration creates them.
@Index('directory_person_name_idx', { synchronize: false })
@Index('directory_person_email_idx', { synchronize: false })
@Index('directory_person_user_name_key', { synchronize: false })
export class DirectoryPersonEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'directory_person_pkey' }) id!: string;
  @Column('text') provider!: string;
  @Column('text', { name: 'external_id', nullable: true }) externalId!: string | null;
  @Column('text', { name: 'user_name' }) userName!: string;
  @Column('boolean', { name: 'is_active' }) isActive!: boolean;
  @Column('jsonb') emails!: readonly DirectoryEmail[];

  /** The addresses in lower case, for searches. */
  @Column('text', { name: 'email_values', array: true }) emailValues!: string[];
  @Column('text', { name: 'display_name', nullable: true }) displayName!: string | null;

  /** Subject of the linked identity: later requests follow it, whatever names change. */
  @Column('text', { nullable: true }) subject!: string | null;

  /** True if more than one identity, or person, matches: such a person is never linked. */
  @Column('boolean', { name: 'is_ambiguous', default: false }) isAmbiguous!: boolean;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'changed_at' }) changedAt!: Date;

  /** Set for a deleted person who was never linked: a first login finds the refusal by it. */
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
}
