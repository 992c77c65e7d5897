import type { JSONWebKeySet } from 'jose';
import type { GuardRuntime, GuardSettings } from '../guard-options.js';
import { millisecondsSince, momentOf, type Moment } from '../../../common/runtime/moment.js';
import { ClientCredentials } from './client-credentials.js';
import {
  IssuerFault,
  IssuerHttp,
  requireSameTime,
  type IssuerAnswer,
  type IssuerRequest,
} from './issuer-http.js';

/** Addresses of the issuer (RFC 8414). */
export interface IssuerMetadata {
  readonly tokenEndpoint: string;
  readonly keySetUrl: string;
  readonly introspectionEndpoint: string;
}

/** Addresses of the transmitter (OpenID Shared Signals Framework 1.0, 7.1). */
export interface TransmitterMetadata {
  readonly keySetUrl: string;
  readonly configurationEndpoint: string;
}

const METADATA_MS = 300_000;
const SCOPE = 'ssf.manage ssf.read';
/** A token is renewed so long before it expires. */
const RENEW_BEFORE_MS = 60_000;

interface Cached<Value> {
  readonly value: Value;
  readonly at: Moment;
  readonly lifeMs: number;
}

/** Gatehouse as a client of OAuth and a receiver of signals see it. */
export class IssuerClient {
  private readonly http: IssuerHttp;
  private readonly credentials: ClientCredentials;
  private readonly cache = new Map<string, Cached<unknown>>();

  constructor(
    private readonly settings: GuardSettings,
    private readonly runtime: GuardRuntime,
  ) {
    this.http = new IssuerHttp(settings, runtime);
    this.credentials = new ClientCredentials(settings, runtime);
  }

  issuerMetadata(): Promise<IssuerMetadata> {
    return this.cached('issuer', async () => {
      const body = await this.metadata('oauth-authorization-server');
      const value = {
        tokenEndpoint: textIn(body, 'token_endpoint'),
        keySetUrl: textIn(body, 'jwks_uri'),
        introspectionEndpoint: textIn(body, 'introspection_endpoint'),
      };
      return { value, lifeMs: METADATA_MS };
    });
  }

  transmitterMetadata(): Promise<TransmitterMetadata> {
    return this.cached('transmitter', async () => {
      const body = await this.metadata('ssf-configuration');
      const value = {
        keySetUrl: textIn(body, 'jwks_uri'),
        configurationEndpoint: textIn(body, 'configuration_endpoint'),
      };
      return { value, lifeMs: METADATA_MS };
    });
  }

  async keySet(url: string): Promise<JSONWebKeySet> {
    const { body } = await this.http.send(url);
    if (!Array.isArray(body['keys'])) {
      throw new IssuerFault('the key set has no keys');
    }
    return body as unknown as JSONWebKeySet;
  }

  /** Asks about a token (RFC 7662). */
  async introspect(token: string): Promise<Readonly<Record<string, unknown>>> {
    const { introspectionEndpoint } = await this.issuerMetadata();
    const { headers, form } = await this.credentials.prove();
    const request = { method: 'POST', headers, form: { ...form, token } } as const;
    const sentAt = momentOf(this.runtime.clock);
    const answer = await this.http.send(introspectionEndpoint, request);
    requireSameTime(answer, sentAt, this.runtime.clock);
    return answer.body;
  }

  /** Sends a request with a token of this backend (RFC 6749, 4.4), which is requested when needed. */
  async sendAuthorized(url: string, request: IssuerRequest): Promise<IssuerAnswer> {
    const token = await this.accessToken();
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    try {
      return await this.http.send(url, { ...request, headers });
    } catch (error) {
      if (error instanceof IssuerFault && error.status === 401) {
        this.cache.delete('token');
      }
      throw error;
    }
  }

  /** Ends requests that wait for an answer, and later ones. */
  close(): void {
    this.http.close();
  }

  private accessToken(): Promise<string> {
    return this.cached('token', async () => {
      const { tokenEndpoint } = await this.issuerMetadata();
      const { headers, form } = await this.credentials.prove();
      const grant = { grant_type: 'client_credentials', scope: SCOPE };
      const request = { method: 'POST', headers, form: { ...form, ...grant } } as const;
      const { body } = await this.http.send(tokenEndpoint, request);
      const lifeMs = Number(body['expires_in'] ?? 0) * 1000;
      const value = textIn(body, 'access_token');
      return { value, lifeMs: Math.max(lifeMs - RENEW_BEFORE_MS, lifeMs / 2) };
    });
  }

  /** @param document its well-known name, which stands before the path of the issuer (RFC 8414, 3) */
  private async metadata(document: string): Promise<Readonly<Record<string, unknown>>> {
    const { issuer } = this.settings;
    const { origin, pathname } = new URL(issuer);
    const path = pathname === '/' ? '' : pathname;
    const { body } = await this.http.send(`${origin}/.well-known/${document}${path}`);
    if (body['issuer'] !== issuer) {
      throw new IssuerFault('the metadata is of another issuer');
    }
    return body;
  }

  private async cached<Value>(
    name: string,
    read: () => Promise<{ readonly value: Value; readonly lifeMs: number }>,
  ): Promise<Value> {
    const { clock } = this.runtime;
    const known = this.cache.get(name) as Cached<Value> | undefined;
    if (known !== undefined && millisecondsSince(known.at, clock) < known.lifeMs) {
      return known.value;
    }
    const at = momentOf(clock);
    const { value, lifeMs } = await read();
    this.cache.set(name, { value, at, lifeMs });
    return value;
  }
}

/** @throws IssuerFault without the text */
export function textIn(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '') {
    throw new IssuerFault(`the answer has no "${name}"`);
  }
  return value;
}
