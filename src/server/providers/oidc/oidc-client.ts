import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  Configuration,
  customFetch,
  fetchUserInfo,
  refreshTokenGrant,
  type CustomFetch,
  type ServerMetadata,
  type TokenEndpointResponse,
} from 'openid-client';
import * as v from 'valibot';
import type { OidcProviderSettings } from '../../config/providers-file/provider-settings.js';
import type { AuthorizationRequest } from '../identity-provider.js';
import type { UpstreamHttp } from '../http/upstream-http.js';
import { isClientRefusal } from '../provider-failure.js';
import type { ClientAuthentication } from './client-authentication.js';
import type { OidcDiscovery } from './oidc-discovery.js';
import type { OidcTokenVerifier } from './oidc-token-verifier.js';
import { withoutAbsent } from './token-answer.js';

export type Claims = Readonly<Record<string, unknown>>;

export interface OidcTokens {
  /** null for a refresh without an ID token, which OpenID Connect Core 12.2 allows. */
  readonly claims: Claims | null;
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

interface RefreshAnswer {
  /** The new refresh token; null when the sent one stays valid. */
  readonly replacement: string | null;
  /** @throws an error of openid-client or jose, ProviderError, UpstreamError */
  readonly tokens: () => Promise<OidcTokens>;
}

const REFRESHED = v.pipe(v.string(), v.parseJson(), v.object({ refresh_token: v.string() }));

export class OidcClient {
  constructor(
    private readonly settings: OidcProviderSettings,
    private readonly authentication: ClientAuthentication,
    private readonly http: UpstreamHttp,
    private readonly discovery: OidcDiscovery,
    private readonly verifier: OidcTokenVerifier,
  ) {}

  /** Returns the authorization endpoint, with https if the issuer has it. @throws UpstreamError */
  async authorizationEndpoint(): Promise<URL> {
    const configuration = await this.configuration(await this.discovery.metadata());
    return buildAuthorizationUrl(configuration, {});
  }

  /** Checks `state`, `iss` (RFC 9207) and `nonce`, and verifies the tokens. */
  async exchangeCode(callback: URL, request: AuthorizationRequest): Promise<OidcTokens> {
    const metadata = await this.discovery.metadata();
    // Behind a proxy, the host of the callback may differ from the registered one.
    const returned = new URL(request.redirectUri);
    returned.search = callback.search;
    const checks = {
      pkceCodeVerifier: request.codeVerifier,
      expectedState: request.state,
      expectedNonce: request.nonce,
      idTokenExpected: true,
    };
    const answer = await this.asClient(metadata, async () =>
      authorizationCodeGrant(await this.configuration(metadata), returned, checks),
    );
    return this.verified(answer, metadata);
  }

  /** The caller stores the new refresh token before it verifies the others. */
  async refresh(refreshToken: string): Promise<RefreshAnswer> {
    let replaced: string | null = null;
    const keep = (token: string | null) => (replaced = token === refreshToken ? null : token);
    const [refreshed] = await Promise.allSettled([this.requestRefresh(refreshToken, keep)]);
    const tokens = async () => {
      if (refreshed.status === 'rejected') {
        throw refreshed.reason;
      }
      return this.verified(refreshed.value.answer, refreshed.value.metadata);
    };
    return { replacement: replaced, tokens };
  }

  /** @returns null when the provider has no such endpoint */
  async userInfo(
    accessToken: string,
    subject: string,
    signal?: AbortSignal,
  ): Promise<Claims | null> {
    const metadata = await this.discovery.metadata();
    if (metadata.userinfo_endpoint === undefined) {
      return null;
    }
    const configuration = await this.configuration(metadata, (url, init) =>
      this.http.fetch(url, { ...init, signal }),
    );
    return fetchUserInfo(configuration, accessToken, subject);
  }

  private async requestRefresh(refreshToken: string, keep: (token: string | null) => void) {
    const metadata = await this.discovery.metadata();
    const fetch: CustomFetch = async (url, init) => {
      const response = await withoutAbsent(await this.http.fetch(url, init));
      // Read here, because openid-client returns no part of an answer with an invalid ID token.
      keep(await refreshTokenIn(response.clone()));
      return response;
    };
    const answer = await this.asClient(metadata, async () =>
      refreshTokenGrant(await this.configuration(metadata, fetch), refreshToken),
    );
    return { metadata, answer };
  }

  /** A provider authenticates the client before it looks at a code or a refresh token. */
  private async asClient<Answer>(
    metadata: ServerMetadata,
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await send();
    } catch (error) {
      if (isClientRefusal(error) && this.authentication.usesOtherAfterRefusal(metadata)) {
        return send();
      }
      throw error;
    }
  }

  private async verified(
    answer: TokenEndpointResponse,
    metadata: ServerMetadata,
  ): Promise<OidcTokens> {
    const { id_token: idToken, access_token: accessToken, refresh_token: refreshToken } = answer;
    return {
      claims:
        idToken === undefined
          ? null
          : await this.verifier.verifyIdToken(idToken, accessToken, metadata),
      accessToken,
      refreshToken: refreshToken ?? null,
    };
  }

  /** Created for each operation, because it contains the fetch function; it has no other state. */
  private async configuration(
    metadata: ServerMetadata,
    fetch: CustomFetch = async (url, init) => withoutAbsent(await this.http.fetch(url, init)),
  ): Promise<Configuration> {
    const { clientId, httpTimeoutSeconds, idTokenSigningAlg } = this.settings;
    const authentication = await this.authentication.method(metadata);
    const client =
      idTokenSigningAlg === null ? {} : { id_token_signed_response_alg: idTokenSigningAlg };
    const configuration = new Configuration(metadata, clientId, client, authentication);
    configuration.timeout = httpTimeoutSeconds;
    configuration[customFetch] = fetch;
    if (new URL(metadata.issuer).protocol === 'http:') {
      allowInsecureRequests(configuration);
    }
    return configuration;
  }
}

/** Returns null for a response that is not JSON, whose problem openid-client reports. */
async function refreshTokenIn(response: Response): Promise<string | null> {
  const parsed = v.safeParse(REFRESHED, await response.text());
  return response.ok && parsed.success ? parsed.output.refresh_token : null;
}
