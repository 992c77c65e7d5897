import { createPrivateKey, type KeyObject } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { decodeProtectedHeader, importJWK, type CryptoKey, type JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { IdentityEvents } from '../auth/identity.events.js';
import { Clock } from '../../common/runtime/clock.js';
import { Timers } from '../../common/runtime/timers.js';
import { AppError, isUnavailable, orRefuse } from '../../common/errors.js';
import { LogOnce } from '../../common/log-once.js';
import {
  newKeyPair,
  SigningKeyRepository,
  type SigningKeyRecord,
} from '../storage/repositories/oauth/signing-key.repository.js';
import { BrokenSealError } from '../storage/sealing/sealed-box.service.js';
import { StorageLifecycleService } from '../storage/storage-lifecycle.service.js';
import { currentKey, nextKeyFrom, retiredKeys, type ScheduledKey } from './key-schedule.js';

/** The longest time for which a replica without Redis uses a revoked key. */
const REFRESH_EVERY_MS = 5_000;
/** P-256 for tokens; RSA for security events, and for tokens where an entry asks for it. */
const ALGORITHMS = ['ES256', 'RS256'] as const;

const LONGEST_TOKEN = 8192;

/** The form of each `kid`: a thumbprint (RFC 7638). */
const KID = /^[\w-]{43}$/;
const READ_AGAIN_EVERY_MS = 1_000;
const MAX_ABSENT = 1_000;

const UNSEALABLE =
  'A master secret is missing: a stored signing key does not open. Add the secret that sealed it to ' +
  'SERVICE_MASTER_SECRET_PREVIOUS. No request that needs the database is served until then.';

export interface SigningKey extends ScheduledKey {
  readonly privateKey: KeyObject;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

/**
 * The keys that sign tokens for backends and security events, kept in the database for all replicas. A new one is made
 * every 90 days, and published a day before it signs.
 */
@Injectable()
export class SigningKeysService implements OnModuleInit {
  private readonly logger = new Logger(SigningKeysService.name);
  private readonly failure = new LogOnce((reason) =>
    this.logger.error({ msg: 'signing keys cannot be read', reason }),
  );
  private keys: readonly SigningKey[] = [];
  private working: Promise<unknown> = Promise.resolve();
  /** A renewal that did not begin yet, for all callers until then. */
  private next: Promise<unknown> | null = null;
  /** Ids of keys that are revoked or were never stored. */
  private readonly absent = new LRUCache<string, true>({ max: MAX_ABSENT });
  private lookingUp: Promise<void> | null = null;
  private readAgainFrom = 0;

  constructor(
    private readonly repository: SigningKeyRepository,
    private readonly storage: StorageLifecycleService,
    private readonly clock: Clock,
    private readonly events: IdentityEvents,
    private readonly timers: Timers,
  ) {}

  onModuleInit(): void {
    this.storage.beforeReady(() => this.prepare());
    this.events.on('signing-keys-rotated', () => void this.refresh());
    this.events.on('access-changes-missed', () => void this.refresh());
  }

  /** Reads the keys of all replicas, and makes or deletes keys that are due. */
  @Interval(REFRESH_EVERY_MS)
  async refresh(): Promise<void> {
    await this.renewNext();
  }

  /**
   * One at a time, so that an older answer never replaces a newer one, and one that waits: each takes as long as the
   * time-outs of a database that hangs.
   *
   * @returns the failure; null = none
   */
  private renewNext(): Promise<unknown> {
    this.next ??= this.working.then(() => {
      this.next = null;
      return this.tryRenew();
    });
    this.working = this.next;
    return this.next;
  }

  /**
   * Reads the keys before the server is ready. Other failures are retried by {@link refresh}.
   *
   * @throws BrokenSealError, because a server that cannot use the keys of the others must not serve
   */
  private async prepare(): Promise<void> {
    const error = await this.tryRenew();
    if (error instanceof BrokenSealError) {
      throw error;
    }
  }

  /** @returns the failure; null = none */
  private async tryRenew(): Promise<unknown> {
    try {
      await this.renew();
      this.failure.clear();
      return null;
    } catch (error) {
      const isSealed = error instanceof BrokenSealError;
      const reason = error instanceof Error ? error.message : String(error);
      // The storage reports that the database is away, or still starts.
      if (!isUnavailable(error)) {
        this.failure.write(isSealed ? UNSEALABLE : reason);
      }
      return error;
    }
  }

  private async renew(): Promise<void> {
    const now = this.clock.now();
    await this.read();
    for (const alg of ALGORITHMS) {
      await this.make(alg, now);
    }
    const retired = retiredKeys(this.keys, now);
    if (retired.length > 0) {
      await this.repository.delete(retired.map(({ kid }) => kid));
      await this.read();
    }
  }

  /** The public keys, as the key set publishes them. */
  get published(): readonly JWK[] {
    return this.keys.map(({ publicJwk }) => publicJwk);
  }

  /** The newest key of each algorithm that signs now or soon. */
  get newest(): readonly SigningKey[] {
    return this.keys.filter(({ alg, signsFrom }) =>
      this.keys.every((other) => other.alg !== alg || other.signsFrom <= signsFrom),
    );
  }

  /** @throws AppError `unavailable` before the keys were read */
  current(alg: string): SigningKey {
    return orRefuse(currentKey(this.keys, alg, this.clock.now()), 'unavailable');
  }

  /**
   * Returns the key that the token names; undefined also for any other text. Another replica may have made the
   * key just now, so an unknown one is looked up.
   *
   * @throws AppError `unavailable` before the keys were read, and while an unknown one cannot be looked up
   */
  async signerOf(token: string, alg: string): Promise<SigningKey | undefined> {
    if (this.keys.length === 0) {
      throw new AppError('unavailable');
    }
    const kid = kidOf(token);
    const key = this.find(kid, alg);
    if (key === undefined && kid !== undefined && KID.test(kid) && !this.absent.has(kid)) {
      await this.lookUp(kid);
    }
    return key ?? this.find(kid, alg);
  }

  /** A key is stored before it signs, so one that is not found then will never be. */
  private async lookUp(kid: string): Promise<void> {
    await (this.lookingUp ??= this.readAgain());
    if (!this.keys.some((key) => key.kid === kid)) {
      this.absent.set(kid, true);
    }
  }

  /** Once a second at most, whatever callers send. @throws AppError `unavailable` */
  private async readAgain(): Promise<void> {
    const waitMs = this.readAgainFrom - this.clock.now();
    // The clock may have been set back.
    await this.timers.sleep(Math.min(Math.max(0, waitMs), READ_AGAIN_EVERY_MS));
    this.readAgainFrom = this.clock.now() + READ_AGAIN_EVERY_MS;
    // A later caller's key may be stored after this read.
    this.lookingUp = null;
    if ((await this.renewNext()) !== null) {
      throw new AppError('unavailable');
    }
  }

  find(kid: string | undefined, alg: string): SigningKey | undefined {
    return this.keys.find((key) => key.kid === kid && key.alg === alg);
  }

  private async read(): Promise<void> {
    const records = await this.repository.all();
    for (const { kid } of this.keys) {
      if (!records.some((record) => record.kid === kid)) {
        this.absent.set(kid, true);
      }
    }
    this.keys = await Promise.all(
      records.map(
        async (record) => this.keys.find(({ kid }) => kid === record.kid) ?? (await keyOf(record)),
      ),
    );
  }

  private async make(alg: string, now: number): Promise<void> {
    const signsFrom = nextKeyFrom(this.keys, alg, now);
    if (signsFrom === null) {
      return;
    }
    const record = { ...(await newKeyPair(alg)), signsFrom };
    // A first key is made once by all replicas, and so is the next one.
    await this.repository.add(record, signsFrom === now ? 0 : now);
    await this.read();
  }
}

function kidOf(token: string): string | undefined {
  try {
    return token.length > LONGEST_TOKEN ? undefined : decodeProtectedHeader(token).kid;
  } catch {
    return undefined;
  }
}

async function keyOf({ kid, alg, privateKey, signsFrom }: SigningKeyRecord): Promise<SigningKey> {
  const jwk = JSON.parse(privateKey) as JWK;
  const { kty, crv, x, y, n, e } = jwk;
  const parts = Object.entries({ kty, crv, x, y, n, e }).filter(([, part]) => part !== undefined);
  const publicJwk = { ...Object.fromEntries(parts), kid, alg, use: 'sig' } as JWK;
  return {
    kid,
    alg,
    signsFrom,
    publicJwk,
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
    publicKey: (await importJWK(publicJwk, alg)) as CryptoKey,
  };
}
