import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { millisecondsSince, momentOf, type Moment } from '../../../common/runtime/moment.js';
import type { GuardRuntime } from '../guard-options.js';

/** Gatehouse lets receivers keep its keys for so long. */
const MAX_AGE_MS = 300_000;
/** A key of this age is used, and the set is read again meanwhile. */
const STALE_AGE_MS = 240_000;
/** Unknown key ids, which strangers can make up, cause a read at most as often as this. */
const COOLDOWN_MS = 1000;
/** After a failure, requests do not ask an issuer that recovers more often than this. */
const RETRY_AFTER_MS = 1000;

type FindKey = (header?: JWSHeaderParameters, token?: FlattenedJWSInput) => Promise<CryptoKey>;

/** The public keys of the issuer (RFC 7517), kept in memory. */
export class KeySet {
  private keys: {
    readonly find: FindKey;
    readonly ids: ReadonlySet<unknown>;
    readonly readAt: Moment;
  } | null = null;
  private reading: Promise<void> | null = null;
  /** The next read for unknown key ids. */
  private nextRead: Promise<void> | null = null;
  private failure: { readonly error: unknown; readonly at: Moment } | null = null;

  constructor(
    private readonly readKeys: () => Promise<JSONWebKeySet>,
    private readonly runtime: Pick<GuardRuntime, 'clock' | 'timers'>,
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
      return this.findKnown(header, token);
    }
    if (age >= STALE_AGE_MS) {
      // The next call reports a failure, once the keys are too old.
      this.read().catch(() => undefined);
    }
    // A key is new after a rotation. Its tokens wait for the next read instead of being refused.
    if (typeof header?.kid === 'string' && this.keys?.ids.has(header.kid) === false) {
      this.nextRead ??= this.readAfterCooldown().finally(() => (this.nextRead = null));
      await this.nextRead;
    }
    return this.findKnown(header, token);
  };

  private findKnown(...parts: Parameters<FindKey>): Promise<CryptoKey> {
    return this.keys === null
      ? Promise.reject(new errors.JWKSNoMatchingKey())
      : this.keys.find(...parts);
  }

  private ageMs(): number {
    return this.keys === null ? Infinity : millisecondsSince(this.keys.readAt, this.runtime.clock);
  }

  private async readAfterCooldown(): Promise<void> {
    const waitMs = COOLDOWN_MS - this.ageMs();
    if (waitMs > 0) {
      await new Promise<void>((done) => this.runtime.timers.after(waitMs, done));
    }
    await this.read();
  }

  private read(): Promise<void> {
    this.reading ??= this.readNow().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private async readNow(): Promise<void> {
    if (
      this.failure !== null &&
      millisecondsSince(this.failure.at, this.runtime.clock) < RETRY_AFTER_MS
    ) {
      throw this.failure.error;
    }
    const readAt = momentOf(this.runtime.clock);
    try {
      const set = await this.readKeys();
      const find = createLocalJWKSet(set);
      this.keys = { find, ids: new Set(set.keys.map(({ kid }) => kid)), readAt };
      this.failure = null;
    } catch (error) {
      this.failure = { error, at: momentOf(this.runtime.clock) };
      throw error;
    }
  }
}
