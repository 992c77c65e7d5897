import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWK,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose';
import * as v from 'valibot';
import type { Clock } from '../../../common/runtime/clock.js';
import { millisecondsSince, momentOf, type Moment } from '../../../common/runtime/moment.js';
import { readJson, RequestBudget, UpstreamError, type UpstreamHttp } from './upstream-http.js';

/** Keys, and the number and the time of the request that fetched them. */
interface FetchedKeys {
  readonly number: number;
  readonly at: Moment;
  readonly keys: ReturnType<typeof createLocalJWKSet>;
}

/** Members that are no keys are ignored (RFC 7517, 5). */
const KEY = v.fallback(v.nullable(v.looseObject({ kty: v.string() })), null);

const KEY_SET = v.pipe(
  v.object({ keys: v.array(KEY) }),
  v.transform(({ keys }) => ({ keys: differentKeys(keys.filter((key) => key !== null)) })),
);

const KEYS_MAX_AGE_MS = 5 * 60 * 1000;

/** Limits the requests that tokens with invented key ids cause. */
const REFETCHES = { perSecond: 0.1, burst: 3, longestWaitMs: 0 };

/**
 * The published keys of one purpose, kept for five minutes: tokens of one purpose cannot use up the
 * requests of another. A token with an unknown key causes a request: key rotations need no restart.
 */
export class RemoteKeySet {
  private readonly refetches = new RequestBudget(REFETCHES);
  private known: FetchedKeys | null = null;
  private begun = 0;
  private pending: Promise<FetchedKeys> | null = null;

  constructor(
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
    /** Further headers of its requests. */
    private readonly headers: () => Promise<Readonly<Record<string, string>>> = () =>
      Promise.resolve({}),
  ) {}

  /**
   * Verifies a token. Keys refuse it for its key only if they were fetched after it came: it may be signed
   * by a newer one.
   * @throws UpstreamError while such keys cannot be fetched, or too many tokens asked for them; an error
   *   of jose for a token that is not valid
   */
  async verify(
    jwksUri: string,
    token: string,
    options: JWTVerifyOptions,
  ): Promise<JWTVerifyResult> {
    const begunBefore = this.begun;
    let current = this.kept() ?? (await this.refresh(jwksUri));
    for (;;) {
      try {
        return await verifyWith(token, current.keys, options);
      } catch (error) {
        if (current.number > begunBefore || !isOfUnknownKey(token, error)) {
          throw error;
        }
      }
      current = await this.renew(jwksUri);
    }
  }

  /** Reads the keys again. @returns their number */
  async count(jwksUri: string): Promise<number> {
    return (await this.refresh(jwksUri)).keys.jwks().keys.length;
  }

  private kept(): FetchedKeys | null {
    const isKept =
      this.known !== null && millisecondsSince(this.known.at, this.clock) < KEYS_MAX_AGE_MS;
    return isKept ? this.known : null;
  }

  private renew(jwksUri: string): Promise<FetchedKeys> {
    if (this.pending === null && this.refetches.reserve(this.clock.now()) === null) {
      const retryAfterMs = 1000 / REFETCHES.perSecond;
      return Promise.reject(new UpstreamError('rate_limited', { retryAfterMs }));
    }
    return this.refresh(jwksUri);
  }

  private refresh(jwksUri: string): Promise<FetchedKeys> {
    this.pending ??= this.request(jwksUri).finally(() => (this.pending = null));
    return this.pending;
  }

  private async request(jwksUri: string): Promise<FetchedKeys> {
    this.begun += 1;
    const number = this.begun;
    // The answer may take long, and the process may be stopped meanwhile.
    const at = momentOf(this.clock);
    const headers = { accept: 'application/json', ...(await this.headers()) };
    const response = await this.http.fetch(jwksUri, { headers });
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    const keys = createLocalJWKSet(await readJson(response, KEY_SET));
    this.known = { number, at, keys };
    return this.known;
  }
}

/** Without a key id, only the signature shows that the key is another one. */
function isOfUnknownKey(token: string, error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    (error instanceof errors.JWSSignatureVerificationFailed &&
      decodeProtectedHeader(token).kid === undefined)
  );
}

/** Tries each of several keys with the key id of the token. Without one, several keys refuse it. */
async function verifyWith(
  token: string,
  keys: FetchedKeys['keys'],
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  let failure: unknown;
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    const isOfOneId = decodeProtectedHeader(token).kid !== undefined;
    if (!(error instanceof errors.JWKSMultipleMatchingKeys) || !isOfOneId) {
      throw error;
    }
    failure = error;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (other) {
        failure = other;
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) {
          break;
        }
      }
    }
  }
  throw failure;
}

/** Drops repeated keys, and members of keys that are null, with which no key is imported. */
function differentKeys(keys: readonly JWK[]): JWK[] {
  const texts = keys.map((key) => {
    const members = Object.entries(key).filter(([, value]) => value !== null);
    return JSON.stringify(members.sort(([one], [other]) => (one < other ? -1 : 1)));
  });
  return [...new Set(texts)].map(
    (text) => Object.fromEntries(JSON.parse(text) as [string, unknown][]) as unknown as JWK,
  );
}
