import { createLocalJWKSet, errors, type FlattenedJWSInput, type JWTHeaderParameters } from 'jose';
import * as v from 'valibot';
import type { Clock } from '../../common/runtime/clock.js';
import { readJson, RequestBudget, UpstreamError, type UpstreamHttp } from './upstream-http.js';

type KeySet = ReturnType<typeof createLocalJWKSet>;
type Key = Awaited<ReturnType<KeySet>>;

const KEY_SET = v.object({ keys: v.array(v.record(v.string(), v.unknown())) });

const KEYS_MAX_AGE_MS = 5 * 60 * 1000;

/** Limits the requests that tokens with invented key ids cause. */
const REFETCHES = { perSecond: 0.1, burst: 3, longestWaitMs: 0 };

/** Kept for five minutes. An unknown key id causes one request: key rotations need no restart. */
export class RemoteKeySet {
  private readonly refetches = new RequestBudget(REFETCHES);
  private known: KeySet | null = null;
  private staleAt = 0;
  private pending: Promise<KeySet> | null = null;

  constructor(
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
    /** Further headers of its requests. */
    private readonly headers: () => Promise<Readonly<Record<string, string>>> = () =>
      Promise.resolve({}),
  ) {}

  /** @throws UpstreamError, or an error of jose when no key or several keys match */
  async find(jwksUri: string, header: JWTHeaderParameters, token: FlattenedJWSInput): Promise<Key> {
    const kept = this.clock.now() < this.staleAt ? this.known : null;
    const keys = kept ?? (await this.refresh(jwksUri));
    try {
      return await keys(header, token);
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey;
      if (kept === null || !isUnknown || this.refetches.reserve(this.clock.now()) === null) {
        throw error;
      }
    }
    const renewed = await this.refresh(jwksUri);
    return renewed(header, token);
  }

  /** Reads the keys again. @returns their number */
  async count(jwksUri: string): Promise<number> {
    return (await this.refresh(jwksUri)).jwks().keys.length;
  }

  private refresh(jwksUri: string): Promise<KeySet> {
    this.pending ??= this.request(jwksUri).finally(() => (this.pending = null));
    return this.pending;
  }

  private async request(jwksUri: string): Promise<KeySet> {
    const headers = { accept: 'application/json', ...(await this.headers()) };
    const response = await this.http.fetch(jwksUri, { headers });
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    this.known = createLocalJWKSet(await readJson(response, KEY_SET));
    this.staleAt = this.clock.now() + KEYS_MAX_AGE_MS;
    return this.known;
  }
}
