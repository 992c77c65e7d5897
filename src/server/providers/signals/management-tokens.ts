import {
  allowInsecureRequests,
  clientCredentialsGrant,
  Configuration,
  customFetch,
} from 'openid-client';
import type { Clock } from '../../../common/runtime/clock.js';
import {
  newestOf,
  readBearerTokens,
  readSecretLines,
} from '../../config/providers-file/bearer-tokens.js';
import { SecretFile } from '../../config/environment/secret-file.js';
import type { StreamManagementSettings } from '../../config/providers-file/provider-settings.js';
import { clientSecretAuth } from '../oidc/client-authentication.js';
import { withoutAbsent } from '../oidc/token-answer.js';
import { UpstreamError, type UpstreamHttp } from '../http/upstream-http.js';
import { upstreamFailureIn } from '../provider-failure.js';

type ClientSettings = Extract<StreamManagementSettings, { kind: 'client' }>;

/** A token is replaced this long before its end. */
const MARGIN_MS = 10_000;
/** For an answer that names no lifetime. */
const ASSUMED_LIFETIME_SECONDS = 60;

/** The bearer tokens of requests to a transmitter's API. */
export interface ManagementTokens {
  /** @param isRefused true if the last one was answered with 401. @throws UpstreamError */
  current(isRefused: boolean): Promise<string>;
}

export function managementTokensOf(
  settings: StreamManagementSettings,
  http: UpstreamHttp,
  clock: Clock,
): ManagementTokens {
  if (settings.kind === 'client') {
    return new ClientTokens(settings, http, clock);
  }
  const parse = (text: string): string => newestOf(readBearerTokens(text));
  const { tokenText, tokenFile } = settings;
  const token = new SecretFile(clock, parse(tokenText), tokenFile, parse);
  return { current: () => token.current() };
}

/** Gets tokens with the credentials of a client (RFC 6749, 4.4), and keeps each for its lifetime. */
class ClientTokens implements ManagementTokens {
  private readonly secret: SecretFile<string>;
  private known: { readonly token: string; readonly staleAt: number } | null = null;
  private pending: Promise<string> | null = null;

  constructor(
    private readonly settings: ClientSettings,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {
    const parse = (text: string): string => newestOf(readSecretLines(text));
    const { clientSecret, clientSecretFile } = settings;
    this.secret = new SecretFile(clock, parse(clientSecret), clientSecretFile, parse);
  }

  async current(isRefused: boolean): Promise<string> {
    if (!isRefused && this.known !== null && this.clock.now() < this.known.staleAt) {
      return this.known.token;
    }
    this.pending ??= this.request().finally(() => (this.pending = null));
    return this.pending;
  }

  private async request(): Promise<string> {
    const { tokenUrl, clientId, scope, tokenEndpointAuthMethod } = this.settings;
    const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
    const secret = clientSecretAuth(tokenEndpointAuthMethod, await this.secret.current());
    const configuration = new Configuration(server, clientId, {}, secret);
    configuration[customFetch] = async (url, init) =>
      withoutAbsent(await this.http.fetch(url, init));
    if (new URL(tokenUrl).protocol === 'http:') {
      allowInsecureRequests(configuration);
    }
    const now = this.clock.now();
    try {
      const answer = await clientCredentialsGrant(configuration, { scope });
      const seconds = answer.expiresIn() ?? ASSUMED_LIFETIME_SECONDS;
      this.known = { token: answer.access_token, staleAt: now + seconds * 1000 - MARGIN_MS };
      return answer.access_token;
    } catch (error) {
      throw upstreamFailureIn(error) ?? new UpstreamError('unexpected_answer');
    }
  }
}
