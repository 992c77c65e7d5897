import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';

/** A key pair that signs tokens for backends. It is published until nothing signed by it is valid. */
@Entity('signing_key')
@Unique('signing_key_kid_key', ['kid'])
export class SigningKeyEntity {
  @PrimaryColumn('uuid') id!: string;

  /** The thumbprint of the public key (RFC 7638). */
  @Column('text') kid!: string;
  @Column('text') alg!: string;

  /** The private key as JWK, sealed for its `kid`. */
  @Column('bytea') privateKey!: Buffer;
  @Column('timestamptz') signsFrom!: Date;
}
