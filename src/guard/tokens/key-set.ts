import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import type { Clock } from '../../common/runtime/clock.js';
import { millisecondsSince, momentOf, type Moment } from '../../common/runtime/moment.js';

/** Gatehouse lets receivers keep its keys for so long. */
const MAX_AGE_MS = 300_000;
/** A key of this age is used, and the set is read again meanwhile. */
const STALE_AGE_MS = 240_000;
/** An unknown key id causes a read, but not more often than this. */
const COOLDOWN_MS = 10_000;
/** After a failure, requests do not ask an issuer that recovers more often than this. */
const RETRY_AFTER_MS = 1000;

type FindKey = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>;

/** The public keys of the issuer (RFC 7517), kept in memory. */
export class KeySet {
  private keys: { readonly find: FindKey; readonly readAt: Moment } | null = null;
  private reading: Promise<void> | null = null;
  private failure: { readonly error: unknown; readonly at: Moment } | null = null;

  constructor(
    private readonly readKeys: () => Promise<JSONWebKeySet>,
    private readonly clock: Clock,
  ) {}

  /**
   * Finds the key of a token, as `jwtVerify` asks for it.
   *
   * @throws JWKSNoMatchingKey, JWKSMultipleMatchingKeys; IssuerFault if the keys cannot be read
   */
  readonly find: FindKey = async (header, token) => {
    const age = this.ageMs();
    if (age >= MAX_AGE_MS) {
      await this.read();
    } else if (age >= STALE_AGE_MS) {
      // The next call reports a failure, once the keys are too old.
      this.read().catch(() => undefined);
    }
    try {
      return await this.findKnown(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || this.ageMs() < COOLDOWN_MS) {
        throw error;
      }
      await this.read();
      return this.findKnown(header, token);
    }
  };

  private findKnown(...parts: Parameters<FindKey>): Promise<CryptoKey> {
    return this.keys === null
      ? Promise.reject(new errors.JWKSNoMatchingKey())
      : this.keys.find(...parts);
  }

  private ageMs(): number {
    return this.keys === null ? Infinity : millisecondsSince(this.keys.readAt, this.clock);
  }

  private read(): Promise<void> {
    this.reading ??= this.readNow().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private async readNow(): Promise<void> {
    if (this.failure !== null && millisecondsSince(this.failure.at, this.clock) < RETRY_AFTER_MS) {
      throw this.failure.error;
    }
    const readAt = momentOf(this.clock);
    try {
      this.keys = { find: createLocalJWKSet(await this.readKeys()), readAt };
      this.failure = null;
    } catch (error) {
      this.failure = { error, at: momentOf(this.clock) };
      throw error;
    }
  }
}
