import {
  allowInsecureRequests,
  customFetch,
  discovery,
  None,
  type ServerMetadata,
} from 'openid-client';
import type { Clock } from '../../../common/runtime/clock.js';
import type { OidcProviderSettings } from '../../config/providers-file/provider-settings.js';
import { foundDocument } from '../http/found-document.js';
import { UpstreamError, upstreamErrorIn, type UpstreamHttp } from '../http/upstream-http.js';
import { withoutAnswer } from '../provider-failure.js';

const METADATA_MAX_AGE_MS = 60 * 60 * 1000;

/** Delays after consecutive failures; the last one repeats. */
const RETRY_DELAYS_MS: readonly [number, ...number[]] = [1_000, 5_000, 15_000, 30_000];

/** While a provider is unreachable, only requests without earlier metadata fail. */
export class OidcDiscovery {
  private known: ServerMetadata | null = null;
  private staleAt = 0;
  private failures = 0;
  private lastFailure: Error | null = null;
  /** The last answer in place of the expected document, for the operator. */
  private found: string | undefined;
  private pending: Promise<ServerMetadata> | null = null;

  constructor(
    private readonly settings: OidcProviderSettings,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {}

  /** @throws UpstreamError when no metadata was ever read and the provider does not answer */
  async metadata(): Promise<ServerMetadata> {
    const waitMs = this.staleAt - this.clock.elapsed();
    if (waitMs <= 0) {
      this.pending ??= this.refresh().finally(() => (this.pending = null));
      return this.pending;
    }
    return this.knownOrFail(waitMs);
  }

  private async refresh(): Promise<ServerMetadata> {
    try {
      this.known = await this.request();
      this.staleAt = this.clock.elapsed() + METADATA_MAX_AGE_MS;
      this.failures = 0;
      return this.known;
    } catch (error) {
      const delayMs = RETRY_DELAYS_MS[this.failures] ?? RETRY_DELAYS_MS.at(-1) ?? 0;
      this.failures += 1;
      this.staleAt = this.clock.elapsed() + delayMs;
      this.lastFailure = withoutAnswer(error);
      return this.knownOrFail(delayMs);
    }
  }

  private knownOrFail(retryAfterMs: number): ServerMetadata {
    if (this.known === null) {
      const cause = this.lastFailure;
      const reached = upstreamErrorIn(cause);
      // A document of another form is a mistake of the configuration, or of the provider.
      const failure =
        reached === undefined || reached.failure === 'unexpected_answer'
          ? 'bad_discovery'
          : reached.failure;
      const isOther = this.found !== `the issuer ${this.settings.issuer}`;
      const detail =
        failure === 'bad_discovery' && isOther ? this.found : (reached?.detail ?? cause?.message);
      throw new UpstreamError(failure, { cause, retryAfterMs, detail });
    }
    return this.known;
  }

  private async request(): Promise<ServerMetadata> {
    const issuer = new URL(this.settings.issuer);
    const configuration = await discovery(issuer, this.settings.clientId, undefined, None(), {
      [customFetch]: async (url, init) => {
        const response = await this.http.fetch(url, init);
        this.found = await foundDocument(response);
        return response;
      },
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
