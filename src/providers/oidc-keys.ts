import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWTHeaderParameters,
} from 'jose';
import type { Clock } from '../common/clock.js';
import { RequestBudget } from './request-budget.js';
import { readJsonObject } from './response-body.js';
import { UpstreamError } from './upstream-error.js';
import type { UpstreamHttp } from './upstream-http.js';

type KeySet = ReturnType<typeof createLocalJWKSet>;
type Key = Awaited<ReturnType<KeySet>>;

const MAX_AGE_MS = 5 * 60 * 1000;

/** Unknown key ids can be made up by strangers (logout tokens): they cost the provider this at most. */
const REFETCHES = { perSecond: 0.1, burst: 3, longestWaitMs: 0 };

/**
 * The signing keys at a provider's `jwks_uri`. An unknown key id makes them be read once more at
 * once, so that a rotation needs no restart; only well-formed key sets are ever kept.
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
    const keys = kept ?? (await this.read(jwksUri));
    try {
      return await keys(header, token);
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey;
      if (kept === null || !isUnknown || this.refetches.reserve(this.clock.now()) === null) {
        throw error;
      }
    }
    const renewed = await this.read(jwksUri);
    return renewed(header, token);
  }

  private read(jwksUri: string): Promise<KeySet> {
    this.pending ??= this.ask(jwksUri).finally(() => (this.pending = null));
    return this.pending;
  }

  private async ask(jwksUri: string): Promise<KeySet> {
    const response = await this.http.fetch(jwksUri, { headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    const keys = keySetOf(await readJsonObject(response));
    this.known = keys;
    this.staleAt = this.clock.now() + MAX_AGE_MS;
    return keys;
  }
}

function keySetOf(json: Record<string, unknown>): KeySet {
  try {
    return createLocalJWKSet(json as unknown as JSONWebKeySet);
  } catch {
    throw new UpstreamError('unexpected_answer');
  }
}
