import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { In, type Repository } from 'typeorm';
import { Random } from '../../../../common/runtime/random.js';
import type { OperatorName } from '../../../../core/policy/audit-event.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { SigningKeyEntity } from '../../entities/signing-key.entity.js';
import { SealedBoxService } from '../../sealing/sealed-box.service.js';
import { insertAuditEvents } from '../audit.repository.js';

export interface SigningKeyRecord {
  readonly kid: string;
  readonly alg: string;
  /** JSON of the private JWK. */
  readonly privateKey: string;
  /** Unix milliseconds. */
  readonly signsFrom: number;
}

/** Serialises the replicas that make a key. Arbitrary, but the same in every release. */
const ADVISORY_LOCK = 7_326_402_912;

@Injectable()
export class SigningKeyRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly box: SealedBoxService,
    private readonly random: Random,
    @InjectRepository(SigningKeyEntity) private readonly keys: Repository<SigningKeyEntity>,
  ) {}

  /** @throws BrokenSealError when the master secret that sealed a key is missing */
  async all(): Promise<SigningKeyRecord[]> {
    const keys = await this.keys.find({ order: { signsFrom: 'ASC', kid: 'ASC' } });
    return keys.map(({ kid, alg, privateKey, signsFrom }) => ({
      kid,
      alg,
      signsFrom: signsFrom.getTime(),
      privateKey: this.box.open('signing-key', kid, privateKey),
    }));
  }

  /** Returns all keys without their private parts, in the order in which they sign. */
  async schedule(): Promise<Omit<SigningKeyRecord, 'privateKey'>[]> {
    const keys = await this.keys.find({
      select: { kid: true, alg: true, signsFrom: true },
      order: { signsFrom: 'ASC', kid: 'ASC' },
    });
    return keys.map(({ kid, alg, signsFrom }) => ({ kid, alg, signsFrom: signsFrom.getTime() }));
  }

  /** Stores a key unless a replica stored one that signs from `notBefore` on or later. */
  async add(key: SigningKeyRecord, notBefore: number): Promise<void> {
    await this.locked((tx) => this.insert(tx, key, notBefore));
  }

  /**
   * Makes the next key of each stored algorithm, and stores an audit event.
   * @param signsFrom Unix milliseconds; null = at once, and the former keys are deleted
   * @returns none where a next key was published already
   * @throws BrokenSealError when the master secret of the stored keys is missing: servers could not
   * open a key that another one sealed
   */
  async rotate(
    signsFrom: number | null,
    by: { readonly actor: OperatorName; readonly reason: string },
    now: number,
  ): Promise<SigningKeyRecord[]> {
    const algorithms = [...new Set((await this.all()).map(({ alg }) => alg))];
    const keys = await Promise.all(
      algorithms.map(async (alg) => ({ ...(await newKeyPair(alg)), signsFrom: signsFrom ?? now })),
    );
    return this.locked(async (tx) => {
      if (signsFrom === null) {
        await tx.manager.delete(SigningKeyEntity, { alg: In(algorithms) });
      }
      const made: SigningKeyRecord[] = [];
      for (const key of keys) {
        made.push(...((await this.insert(tx, key, now)) ? [key] : []));
      }
      const event = { kind: 'signing-keys-rotated', accountId: null, ...by } as const;
      await insertAuditEvents(tx, made.length === 0 ? [] : [event], new Date(now));
      return made;
    });
  }

  async delete(kids: readonly string[]): Promise<void> {
    await this.keys.delete({ kid: In([...kids]) });
  }

  private locked<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.database.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock($1)`, [ADVISORY_LOCK]);
      return work(tx);
    });
  }

  /** @returns false if a key of this algorithm signs from `notBefore` on or later */
  private async insert(
    tx: Transaction,
    key: SigningKeyRecord,
    notBefore: number,
  ): Promise<boolean> {
    const { kid, alg, privateKey, signsFrom } = key;
    const sealed = this.box.seal('signing-key', kid, privateKey);
    const added = await tx.query(
      `INSERT INTO "signing_key" ("id", "kid", "alg", "private_key", "signs_from")
       SELECT $6, $1, $2, $3, $4 WHERE NOT EXISTS (
         SELECT FROM "signing_key" WHERE "alg" = $2 AND "signs_from" >= $5)
       RETURNING 1`,
      [kid, alg, sealed, new Date(signsFrom), new Date(notBefore), this.random.uuid()],
    );
    return added.length > 0;
  }
}

/** Draws a key pair, named by the thumbprint of its public key (RFC 7638). */
export async function newKeyPair(alg: string): Promise<Omit<SigningKeyRecord, 'signsFrom'>> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: 2048 });
  const jwk = await exportJWK(privateKey);
  return { kid: await calculateJwkThumbprint(jwk), alg, privateKey: JSON.stringify(jwk) };
}
