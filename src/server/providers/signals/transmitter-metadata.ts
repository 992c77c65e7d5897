import * as v from 'valibot';
import type { Clock } from '../../../common/runtime/clock.js';
import { foundDocument } from '../http/found-document.js';
import { readJson, UpstreamError, type UpstreamHttp } from '../http/upstream-http.js';

const MAX_AGE_MS = 3_600_000;

const ADDRESS = v.pipe(v.string(), v.url());

const METADATA = v.object({
  issuer: v.string(),
  jwks_uri: ADDRESS,
  configuration_endpoint: v.optional(ADDRESS),
  status_endpoint: v.optional(ADDRESS),
  verification_endpoint: v.optional(ADDRESS),
});

/** The document of a transmitter (OpenID SSF 1.0, 7.1). */
interface TransmitterDocument {
  readonly jwksUri: string;
  readonly configurationEndpoint: string | null;
  readonly statusEndpoint: string | null;
  readonly verificationEndpoint: string | null;
}

/** Reads the document of a transmitter, and keeps it for an hour. */
export class TransmitterMetadata {
  private known: TransmitterDocument | null = null;
  private staleAt = 0;

  constructor(
    readonly issuer: string,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {}

  /** @throws UpstreamError when it was never read and cannot be read now */
  async current(): Promise<TransmitterDocument> {
    const now = this.clock.elapsed();
    if (this.known === null || now >= this.staleAt) {
      this.known = await this.read().catch((error: unknown) => {
        if (this.known === null) {
          throw error;
        }
        return this.known;
      });
      this.staleAt = now + MAX_AGE_MS;
    }
    return this.known;
  }

  /** The path goes between the host and that of the issuer (SSF 1.0, 7.2.1). */
  private async read(): Promise<TransmitterDocument> {
    const { origin, pathname } = new URL(this.issuer);
    const path = pathname === '/' ? '' : pathname;
    const address = `${origin}/.well-known/ssf-configuration${path}`;
    const response = await this.http.fetch(address, { headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer', { detail: await foundDocument(response) });
    }
    const found = await foundDocument(response);
    const { issuer, jwks_uri: jwksUri, ...endpoints } = await readJson(response, METADATA);
    if (issuer !== this.issuer) {
      throw new UpstreamError('bad_discovery', { detail: found });
    }
    return {
      jwksUri,
      configurationEndpoint: endpoints.configuration_endpoint ?? null,
      statusEndpoint: endpoints.status_endpoint ?? null,
      verificationEndpoint: endpoints.verification_endpoint ?? null,
    };
  }
}
