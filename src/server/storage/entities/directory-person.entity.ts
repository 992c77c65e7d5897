import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

interface DirectoryEmail {
  readonly value: string;
  readonly type?: string;
  readonly primary?: boolean;
}

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
@Index('directory_person_folded_name_idx', { synchronize: false })
@Index('directory_person_former_name_idx', { synchronize: false })
export class DirectoryPersonEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') provider!: string;
  @Column('text', { nullable: true }) externalId!: string | null;
  @Column('text') userName!: string;
  @Column('boolean') isActive!: boolean;
  @Column('jsonb') emails!: readonly DirectoryEmail[];

  /** The addresses in lower case (ASCII), for searches. */
  @Column('text', { array: true }) emailValues!: string[];
  @Column('text', { nullable: true }) displayName!: string | null;

  /** Subject of the linked identity: later requests follow it, whatever names change. */
  @Column('text', { nullable: true }) subject!: string | null;

  /**
   * Subjects whose access the person's end ends, in addition: those that proved a name of the person, and
   * the one of an id that the directory has changed since.
   */
  @Column('text', { array: true, default: '{}' }) subjects!: string[];

  /** True if a login proved a name of the person while the directory showed the person. */
  @Column('boolean', { default: false }) isProven!: boolean;

  /** Names that the person had while refused: a login that proves one is refused as well. */
  @Column('text', { array: true, default: '{}' }) formerNames!: string[];

  /** True if more than one identity, or person, matches: such a person is never linked. */
  @Column('boolean', { default: false }) isAmbiguous!: boolean;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') changedAt!: Date;

  /** Set for a deleted person who was never linked: a first login finds the refusal by it. */
  @Column('timestamptz', { nullable: true }) deletedAt!: Date | null;

  /** Set by an administrator who ended the refusal; the next request about the person clears it. */
  @Column('timestamptz', { nullable: true }) refusalEndedAt!: Date | null;
}
