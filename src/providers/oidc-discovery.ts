import {
  allowInsecureRequests,
  customFetch,
  discovery,
  None,
  type ServerMetadata,
} from 'openid-client';
import type { Clock } from '../common/clock.js';
import type { OidcProviderSettings } from '../config/settings.js';
import { withoutAnswer } from './exchange-failure.js';
import { UpstreamError } from './upstream-error.js';
import type { UpstreamHttp } from './upstream-http.js';

const MAX_AGE_MS = 60 * 60 * 1000;

/** After a failure the provider is asked again only after a while; the last delay repeats. */
const RETRY_DELAYS_MS: readonly [number, ...number[]] = [1_000, 5_000, 15_000, 30_000];

/**
 * The provider's own description, read when it is first needed and again every hour. A provider that
 * cannot be reached fails only those who need it now; once read, a description outlives outages.
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

  /** @throws UpstreamError when nothing was ever read and the provider cannot be asked now */
  async metadata(): Promise<ServerMetadata> {
    const waitMs = this.staleAt - this.clock.now();
    if (waitMs <= 0) {
      this.pending ??= this.read().finally(() => (this.pending = null));
      return this.pending;
    }
    if (this.known === null) {
      throw new UpstreamError('unexpected_answer', {
        cause: this.lastFailure,
        retryAfterMs: waitMs,
      });
    }
    return this.known;
  }

  private async read(): Promise<ServerMetadata> {
    try {
      this.known = await this.ask();
      this.staleAt = this.clock.now() + MAX_AGE_MS;
      this.failures = 0;
      return this.known;
    } catch (error) {
      const delay = RETRY_DELAYS_MS[this.failures] ?? RETRY_DELAYS_MS.at(-1) ?? 0;
      this.failures += 1;
      this.staleAt = this.clock.now() + delay;
      this.lastFailure = withoutAnswer(error);
      if (this.known !== null) {
        return this.known;
      }
      throw new UpstreamError('unexpected_answer', {
        cause: this.lastFailure,
        retryAfterMs: delay,
      });
    }
  }

  private async ask(): Promise<ServerMetadata> {
    const issuer = new URL(this.settings.issuer);
    const configuration = await discovery(issuer, this.settings.clientId, undefined, None(), {
      [customFetch]: (url, init) => this.http.fetch(url, init),
      timeout: this.settings.httpTimeoutSeconds,
      execute: issuer.protocol === 'http:' ? [allowInsecureRequests] : [],
    });
    const metadata = configuration.serverMetadata();
    // Core 3.1.3.7 compares the issuer as text; openid-client lets a trailing slash pass here.
    if (metadata.issuer !== this.settings.issuer) {
      throw new Error('The issuer of the discovery document is not the configured one.');
    }
    return metadata;
  }
}
