import type { Clock } from '../common/clock.js';
import type { GitHubProviderSettings } from '../config/settings.js';
import { ProviderError, type ProviderCredentials } from './identity-provider.js';
import { readJsonObject } from './response-body.js';
import { UpstreamError } from './upstream-error.js';
import type { UpstreamHttp } from './upstream-http.js';

/** A person's own access token. Its text has no known length or shape. */
export interface GitHubUserToken {
  readonly accessToken: string;
  /** null = the token does not expire. */
  readonly refreshToken: string | null;
  /** Unix milliseconds; null = never. */
  readonly expiresAt: number | null;
}

/** Tokens that are about to expire are renewed rather than used. */
const RENEW_BEFORE_MS = 60_000;

/** GitHub answers 200 to these. They are about the code or token; any other is about this server. */
const SPENT = ['bad_refresh_token', 'bad_verification_code', 'invalid_grant'];

/** The code or refresh token is worth nothing any more. */
export class GitHubGrantSpent extends ProviderError {
  constructor(readonly reason: string) {
    super('invalid_response');
  }
}

/** Gets, renews and examines the access tokens that people give by logging in. */
export class GitHubUserTokens {
  constructor(
    private readonly settings: GitHubProviderSettings,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {}

  /** @throws GitHubGrantSpent, UpstreamError */
  byCode(code: string, redirectUri: string, codeVerifier: string): Promise<GitHubUserToken> {
    return this.request({ code, redirect_uri: redirectUri, code_verifier: codeVerifier });
  }

  /** @throws GitHubGrantSpent, UpstreamError */
  byRefreshToken(refreshToken: string): Promise<GitHubUserToken> {
    return this.request({ grant_type: 'refresh_token', refresh_token: refreshToken });
  }

  isExpiring({ expiresAt }: GitHubUserToken): boolean {
    return expiresAt !== null && expiresAt - RENEW_BEFORE_MS <= this.clock.now();
  }

  /**
   * Whether GitHub says that this application has no such token any more. A 401 of the API alone does
   * not: an installation that answers it to everybody would put everybody out.
   * @throws UpstreamError
   */
  async isRevoked(accessToken: string): Promise<boolean> {
    const { clientId, clientSecret, apiUrl } = this.settings;
    const client = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const response = await this.http.fetch(
      `${apiUrl}/applications/${encodeURIComponent(clientId)}/token`,
      {
        method: 'POST',
        headers: {
          accept: 'application/vnd.github+json',
          authorization: `Basic ${client}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ access_token: accessToken }),
      },
    );
    return response.status === 404;
  }

  private async request(parameters: Record<string, string>): Promise<GitHubUserToken> {
    const { baseUrl, clientId, clientSecret } = this.settings;
    const response = await this.http.fetch(`${baseUrl}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({
        client_id: clientId,
        client_secret: clientSecret,
        ...parameters,
      }),
    });
    if (response.status !== 200 && response.status !== 400) {
      throw new UpstreamError('unexpected_answer');
    }
    const body = await readJsonObject(response);
    if (typeof body['error'] === 'string' && SPENT.includes(body['error'])) {
      throw new GitHubGrantSpent(body['error']);
    }
    return this.tokenIn(body);
  }

  private tokenIn(body: Record<string, unknown>): GitHubUserToken {
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifetime } = body;
    if (typeof accessToken !== 'string' || accessToken === '') {
      throw new UpstreamError('unexpected_answer');
    }
    return {
      accessToken,
      refreshToken: typeof refreshToken === 'string' ? refreshToken : null,
      expiresAt: typeof lifetime === 'number' ? this.clock.now() + lifetime * 1000 : null,
    };
  }
}

/** The token as the text that is kept, sealed, with the identity. */
export function credentialsOf(token: GitHubUserToken): ProviderCredentials {
  return JSON.stringify(token);
}

/** The token in kept credentials; null when they are not what this provider wrote. */
export function tokenOf(credentials: ProviderCredentials): GitHubUserToken | null {
  try {
    const token = JSON.parse(credentials) as Partial<GitHubUserToken> | null;
    return typeof token?.accessToken === 'string' ? (token as GitHubUserToken) : null;
  } catch {
    return null;
  }
}
