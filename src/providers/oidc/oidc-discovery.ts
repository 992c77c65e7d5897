import { createLocalJWKSet, errors, type FlattenedJWSInput, type JWTHeaderParameters } from 'jose';
import {
  allowInsecureRequests,
  customFetch,
  discovery,
  None,
  type ServerMetadata,
} from 'openid-client';
import * as v from 'valibot';
import type { Clock } from '../../common/clock.js';
import type { OidcProviderSettings } from '../../config/providers.config.js';
import {
  readJson,
  RequestBudget,
  UpstreamError,
  upstreamErrorIn,
  type UpstreamHttp,
} from '../http/upstream-http.js';
import { withoutAnswer } from '../provider-failure.js';

const METADATA_MAX_AGE_MS = 60 * 60 * 1000;

/** Delays after consecutive failures; the last one repeats. */
const RETRY_DELAYS_MS: readonly [number, ...number[]] = [1_000, 5_000, 15_000, 30_000];

/**
 * The provider's metadata, read when first needed and again every hour. An unreachable provider fails
 * only the requests that need it now; metadata that was read once outlives outages.
 */
export class OidcDiscovery {
  private known: ServerMetadata | null = null;
  private staleAt = 0;
  private failures = 0;
  private lastFailure: Error | null = null;
  private pending: Promise<ServerMetadata> | null = null;

  constructor(
    private readonly settings: OidcProviderSettings,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {}

  /** @throws UpstreamError when no metadata was ever read and the provider cannot be asked now */
  async metadata(): Promise<ServerMetadata> {
    const waitMs = this.staleAt - this.clock.now();
    if (waitMs <= 0) {
      this.pending ??= this.refresh().finally(() => (this.pending = null));
      return this.pending;
    }
    return this.knownOrFail(waitMs);
  }

  private async refresh(): Promise<ServerMetadata> {
    try {
      this.known = await this.request();
      this.staleAt = this.clock.now() + METADATA_MAX_AGE_MS;
      this.failures = 0;
      return this.known;
    } catch (error) {
      const delayMs = RETRY_DELAYS_MS[this.failures] ?? RETRY_DELAYS_MS.at(-1) ?? 0;
      this.failures += 1;
      this.staleAt = this.clock.now() + delayMs;
      this.lastFailure = withoutAnswer(error);
      return this.knownOrFail(delayMs);
    }
  }

  private knownOrFail(retryAfterMs: number): ServerMetadata {
    if (this.known === null) {
      const cause = this.lastFailure;
      const reached = upstreamErrorIn(cause);
      // What was read and is no such document is a mistake of the configuration, or of the provider.
      const failure =
        reached === undefined || reached.failure === 'unexpected_answer'
          ? 'bad_discovery'
          : reached.failure;
      const detail = reached?.detail ?? cause?.message;
      throw new UpstreamError(failure, { cause, retryAfterMs, detail });
    }
    return this.known;
  }

  private async request(): Promise<ServerMetadata> {
    const issuer = new URL(this.settings.issuer);
    const configuration = await discovery(issuer, this.settings.clientId, undefined, None(), {
      [customFetch]: (url, init) => this.http.fetch(url, init),
      timeout: this.settings.httpTimeoutSeconds,
      execute: issuer.protocol === 'http:' ? [allowInsecureRequests] : [],
    });
    const metadata = configuration.serverMetadata();
    // Core 3.1.3.7 compares the issuer as text; openid-client accepts a trailing slash here.
    if (metadata.issuer !== this.settings.issuer) {
      throw new Error('The issuer of the discovery document is not the configured one.');
    }
    return metadata;
  }
}

type KeySet = ReturnType<typeof createLocalJWKSet>;
type Key = Awaited<ReturnType<KeySet>>;

const KEY_SET = v.object({ keys: v.array(v.record(v.string(), v.unknown())) });

const KEYS_MAX_AGE_MS = 5 * 60 * 1000;

/** Limits the requests that logout tokens with invented key ids cause. */
const REFETCHES = { perSecond: 0.1, burst: 3, longestWaitMs: 0 };

/**
 * The signing keys at a provider's `jwks_uri`. An unknown key id causes one more request at once, so
 * that a key rotation needs no restart.
 */
export class OidcKeys {
  private readonly refetches = new RequestBudget(REFETCHES);
  private known: KeySet | null = null;
  private staleAt = 0;
  private pending: Promise<KeySet> | null = null;

  constructor(
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {}

  /** @throws UpstreamError, or an error of jose when no key, or more than one, fits */
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

  /** Reads the keys again. @returns how many there are. @throws UpstreamError */
  async count(jwksUri: string): Promise<number> {
    return (await this.refresh(jwksUri)).jwks().keys.length;
  }

  private refresh(jwksUri: string): Promise<KeySet> {
    this.pending ??= this.request(jwksUri).finally(() => (this.pending = null));
    return this.pending;
  }

  private async request(jwksUri: string): Promise<KeySet> {
    const response = await this.http.fetch(jwksUri, { headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    this.known = createLocalJWKSet(await readJson(response, KEY_SET));
    this.staleAt = this.clock.now() + KEYS_MAX_AGE_MS;
    return this.known;
  }
}
