import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  Configuration,
  customFetch,
  fetchUserInfo,
  refreshTokenGrant,
  type CustomFetch,
  type ServerMetadata,
  type TokenEndpointResponse,
} from 'openid-client';
import * as v from 'valibot';
import type { OidcProviderSettings } from '../../config/providers.config.js';
import type { AuthorizationRequest } from '../identity-provider.js';
import type { UpstreamHttp } from '../http/upstream-http.js';
import type { ClientAuthentication } from './client-authentication.js';
import type { OidcDiscovery } from './oidc-discovery.js';
import type { OidcTokenVerifier } from './oidc-token-verifier.js';

export type Claims = Readonly<Record<string, unknown>>;

/** The verified response of the token endpoint. */
export interface OidcTokens {
  /** null when a refresh came without an ID token, which OpenID Connect Core 12.2 allows. */
  readonly claims: Claims | null;
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

export interface RefreshAnswer {
  /** The refresh token to use from now on; null when the one that was sent stays valid. */
  readonly replacement: string | null;
  /** The verified tokens. @throws an error of openid-client or jose, ProviderError, UpstreamError */
  readonly tokens: () => Promise<OidcTokens>;
}

const REFRESHED = v.pipe(v.string(), v.parseJson(), v.object({ refresh_token: v.string() }));

/** The client of one provider, through openid-client. */
export class OidcClient {
  constructor(
    private readonly settings: OidcProviderSettings,
    private readonly authentication: ClientAuthentication,
    private readonly http: UpstreamHttp,
    private readonly discovery: OidcDiscovery,
    private readonly verifier: OidcTokenVerifier,
  ) {}

  /** @param extra parameters beyond those of the protocol. @throws UpstreamError */
  async authorizationUrl(request: AuthorizationRequest, extra: object): Promise<URL> {
    const configuration = await this.configuration(await this.discovery.metadata());
    return buildAuthorizationUrl(configuration, {
      ...extra,
      redirect_uri: new URL(request.redirectUri).href,
      scope: this.settings.scopes.join(' '),
      state: request.state,
      nonce: request.nonce,
      code_challenge: await calculatePKCECodeChallenge(request.codeVerifier),
      code_challenge_method: 'S256',
      ...(this.settings.prompt !== null && { prompt: this.settings.prompt }),
    });
  }

  /**
   * Checks `state`, `iss` (RFC 9207) and `nonce`, and exchanges the code for verified tokens.
   * @throws an error of openid-client or jose, ProviderError, UpstreamError
   */
  async exchangeCode(callback: URL, request: AuthorizationRequest): Promise<OidcTokens> {
    const metadata = await this.discovery.metadata();
    // Behind a proxy the callback arrives under another host than the one that was registered.
    const returned = new URL(request.redirectUri);
    returned.search = callback.search;
    const answer = await authorizationCodeGrant(await this.configuration(metadata), returned, {
      pkceCodeVerifier: request.codeVerifier,
      expectedState: request.state,
      expectedNonce: request.nonce,
      idTokenExpected: true,
    });
    return this.verified(answer, metadata);
  }

  /**
   * Exchanges a refresh token for new tokens. Reading the answer and verifying it are two steps: the
   * caller first stores the replacement of the spent refresh token, then verifies.
   */
  async refresh(refreshToken: string): Promise<RefreshAnswer> {
    let replaced: string | null = null;
    const keep = (token: string | null) => (replaced = token === refreshToken ? null : token);
    const [asked] = await Promise.allSettled([this.requestRefresh(refreshToken, keep)]);
    const tokens = async () => {
      if (asked.status === 'rejected') {
        throw asked.reason;
      }
      return this.verified(asked.value.answer, asked.value.metadata);
    };
    return { replacement: replaced, tokens };
  }

  /** The userinfo claims of that subject; null when the provider has no such endpoint. */
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
    const configuration = await this.configuration(metadata, async (url, init) => {
      const response = await this.http.fetch(url, init);
      // Read here, because openid-client returns nothing of an answer with an invalid ID token.
      keep(await refreshTokenIn(response.clone()));
      return response;
    });
    return { metadata, answer: await refreshTokenGrant(configuration, refreshToken) };
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

  /** Created for each operation, as it contains how to fetch; it has no other state. */
  private async configuration(
    metadata: ServerMetadata,
    fetch: CustomFetch = (url, init) => this.http.fetch(url, init),
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

/** openid-client reports what is wrong with a response that is not JSON. */
async function refreshTokenIn(response: Response): Promise<string | null> {
  const parsed = v.safeParse(REFRESHED, await response.text());
  return response.ok && parsed.success ? parsed.output.refresh_token : null;
}
