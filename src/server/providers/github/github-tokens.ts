import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import * as v from 'valibot';
import type { Clock } from '../../../common/runtime/clock.js';
import { readSecretValue } from '../../config/read-environment.js';
import { SecretFile } from '../../config/environment/secret-file.js';
import type { GitHubProviderSettings } from '../../config/providers-file/provider-settings.js';
import { ProviderError, type ProviderCredentials } from '../identity-provider.js';
import { readJson, UpstreamError, type UpstreamHttp } from '../http/upstream-http.js';
import { knownErrorCode } from '../provider-failure.js';
import { ORGANIZATION, type GitHubApi } from './github-api.js';
import type { GitHubOrganizations } from './github-organizations.js';

const USER_TOKEN = v.object({
  accessToken: v.string(),
  refreshToken: v.fallback(v.nullable(v.string()), null),
  expiresAt: v.fallback(v.nullable(v.number()), null),
});

/** `expiresAt` is in Unix milliseconds; null = never. */
export type GitHubUserToken = Readonly<v.InferOutput<typeof USER_TOKEN>>;

/** RFC 6749, 5.1 and 5.2; GitHub answers 200 to both. */
const TOKEN_ANSWER = v.object({
  error: v.fallback(v.string(), ''),
  access_token: v.fallback(v.string(), ''),
  refresh_token: v.fallback(v.nullable(v.string()), null),
  expires_in: v.fallback(v.nullable(v.number()), null),
});

/** Errors of the code or token; any other concerns this server. */
const SPENT = ['bad_refresh_token', 'bad_verification_code', 'invalid_grant'];

/** Errors of this server's client: its id, its secret or the app itself. */
const CLIENT_REFUSALS = ['incorrect_client_credentials', 'application_suspended'];

const RENEW_USER_TOKEN_BEFORE_MS = 60_000;

/** The code or refresh token is no longer valid. */
export class GitHubGrantSpent extends ProviderError {
  constructor(readonly reason: string) {
    super('invalid_response', { detail: reason });
  }
}

export class GitHubUserTokens {
  private readonly secret: SecretFile<string>;

  constructor(
    private readonly settings: GitHubProviderSettings,
    private readonly http: UpstreamHttp,
    private readonly clock: Clock,
  ) {
    const { clientSecret, clientSecretFile } = settings;
    this.secret = new SecretFile(
      clock,
      clientSecret,
      clientSecretFile,
      (text) => readSecretValue('GITHUB_CLIENT_SECRET', text) ?? '',
    );
  }

  byCode(code: string, redirectUri: string, codeVerifier: string): Promise<GitHubUserToken> {
    return this.request({ code, redirect_uri: redirectUri, code_verifier: codeVerifier });
  }

  byRefreshToken(refreshToken: string): Promise<GitHubUserToken> {
    return this.request({ grant_type: 'refresh_token', refresh_token: refreshToken });
  }

  isExpiring({ expiresAt }: GitHubUserToken): boolean {
    return expiresAt !== null && expiresAt - RENEW_USER_TOKEN_BEFORE_MS <= this.clock.now();
  }

  /**
   * Returns true if GitHub confirms the revocation. A 401 of the API does not confirm it: an
   * installation that answers 401 to every call would end every session.
   */
  async isRevoked(accessToken: string): Promise<boolean> {
    const { clientId, apiUrl } = this.settings;
    const clientSecret = await this.secret.current();
    const client = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const url = `${apiUrl}/applications/${encodeURIComponent(clientId)}/token`;
    const response = await this.http.fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Basic ${client}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ access_token: accessToken }),
    });
    return response.status === 404;
  }

  private async request(parameters: Record<string, string>): Promise<GitHubUserToken> {
    const { baseUrl, clientId } = this.settings;
    const response = await this.http.fetch(`${baseUrl}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({
        client_id: clientId,
        client_secret: await this.secret.current(),
        ...parameters,
      }),
    });
    if (response.status !== 200 && response.status !== 400) {
      throw new UpstreamError('unexpected_answer');
    }
    const answer = await readJson(response, TOKEN_ANSWER);
    if (SPENT.includes(answer.error)) {
      throw new GitHubGrantSpent(answer.error);
    }
    if (CLIENT_REFUSALS.includes(answer.error)) {
      throw new UpstreamError('invalid_client', { detail: answer.error });
    }
    if (answer.access_token === '') {
      throw new UpstreamError('unexpected_answer', { detail: knownErrorCode(answer.error) });
    }
    const lifetime = answer.expires_in;
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token,
      expiresAt: lifetime === null ? null : this.clock.now() + lifetime * 1000,
    };
  }
}

/** @returns null for credentials of another provider */
export function tokenOf(credentials: ProviderCredentials): GitHubUserToken | null {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), USER_TOKEN), credentials);
  return parsed.success ? parsed.output : null;
}

export interface InstallationToken {
  readonly token: string;
  /** True if the token may read memberships; otherwise a 404 counts as unknown. */
  readonly readsMembers: boolean;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** GitHub refuses an app token that is issued in its future or lives longer than ten minutes. */
const BACKDATED_SECONDS = 60;
const LIFETIME_SECONDS = 540;

const RENEW_INSTALLATION_TOKEN_BEFORE_MS = 5 * 60 * 1000;

const INSTALLATION = v.object({
  id: v.union([v.number(), v.string()]),
  account: v.fallback(v.nullable(ORGANIZATION), null),
  suspended_at: v.optional(v.unknown()),
});

type Installation = v.InferOutput<typeof INSTALLATION>;

const INSTALLATIONS = v.array(INSTALLATION);
const LARGEST_PAGE = 100;
/** Limit that ends a loop of pages; an app of one operator has few installations. */
const MOST_PAGES = 20;

const INSTALLATION_TOKEN = v.object({
  token: v.string(),
  // An invalid time is NaN, which valibot does not accept as a number.
  expires_at: v.pipe(v.string(), v.transform(Date.parse), v.number()),
  permissions: v.fallback(v.object({ members: v.optional(v.string(), '') }), { members: '' }),
});

/** Tokens are cached until shortly before they expire. */
export class GitHubAppTokens {
  private readonly privateKey: KeyObject;
  private readonly cached = new Map<string, Promise<InstallationToken | null>>();

  constructor(
    private readonly app: NonNullable<GitHubProviderSettings['app']>,
    private readonly api: GitHubApi,
    private readonly organizations: GitHubOrganizations,
    private readonly clock: Clock,
  ) {
    this.privateKey = createPrivateKey(app.privateKey);
  }

  /** @param org lower case @returns null when the app is not installed there */
  async forOrg(org: string): Promise<InstallationToken | null> {
    const cached = this.cached.get(org);
    const token = await cached;
    if (token && token.expiresAt - RENEW_INSTALLATION_TOKEN_BEFORE_MS > this.clock.now()) {
      return token;
    }
    // The first caller sends the request; the others wait for the same answer.
    if (this.cached.get(org) === cached) {
      const requested = this.request(org);
      this.cached.set(org, requested);
      requested.catch(() => this.cached.delete(org));
    }
    return (await this.cached.get(org)) ?? null;
  }

  forget(org: string): void {
    this.cached.delete(org);
  }

  private async request(org: string): Promise<InstallationToken | null> {
    const jwt = await this.appToken();
    const installation = await this.installationOf(org, jwt);
    if (installation === null) {
      return null;
    }
    const path = ['app', 'installations', installation, 'access_tokens'];
    const response = await this.api.call(path, jwt, { method: 'POST' });
    if (response.status !== 201) {
      throw new UpstreamError('unexpected_answer');
    }
    const answer = await readJson(response, INSTALLATION_TOKEN);
    return {
      token: answer.token,
      readsMembers: ['read', 'write'].includes(answer.permissions.members),
      expiresAt: answer.expires_at,
    };
  }

  /** Another account's installation would answer 404 for every member: the account is compared. */
  private async installationOf(org: string, jwt: string): Promise<string | null> {
    const { installationIdByOrg } = this.app;
    const configured = Object.hasOwn(installationIdByOrg, org) ? installationIdByOrg[org] : null;
    const id = configured ? null : await this.organizations.idOf(org);
    const path = configured ? ['app', 'installations', configured] : ['orgs', org, 'installation'];
    const found = id === null ? await this.read(path, jwt) : await this.installationIn(id, jwt);
    const account = found?.account ?? null;
    if (found === null || account === null || found.suspended_at) {
      return null;
    }
    return (await this.organizations.isMeant(org, account)) ? String(found.id) : null;
  }

  /** Finds the installation by the id of the organisation, which a renaming does not change. */
  private async installationIn(id: string, jwt: string): Promise<Installation | null> {
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const query = { per_page: String(LARGEST_PAGE), page: String(page) };
      const response = await this.call(['app', 'installations'], jwt, query);
      const all = response === null ? [] : await readJson(response, INSTALLATIONS);
      const found = all.find(({ account }) => account?.id === id);
      if (found !== undefined || all.length < LARGEST_PAGE) {
        return found ?? null;
      }
    }
    throw new UpstreamError('unexpected_answer');
  }

  private async read(path: readonly string[], jwt: string): Promise<Installation | null> {
    const response = await this.call(path, jwt);
    return response && readJson(response, INSTALLATION);
  }

  private async call(
    path: readonly string[],
    jwt: string,
    query?: Readonly<Record<string, string>>,
  ): Promise<Response | null> {
    const response = await this.api.call(path, jwt, { query });
    // Signed with a key that was removed from the app, or of a deleted app.
    if (response.status === 401) {
      throw new UpstreamError('invalid_client', { detail: 'app_key_refused' });
    }
    if (response.status !== 200 && response.status !== 404) {
      throw new UpstreamError('unexpected_answer');
    }
    return response.status === 200 ? response : null;
  }

  private appToken(): Promise<string> {
    const now = Math.floor(this.clock.now() / 1000);
    return new SignJWT()
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(this.app.id)
      .setIssuedAt(now - BACKDATED_SECONDS)
      .setExpirationTime(now + LIFETIME_SECONDS)
      .sign(this.privateKey);
  }
}
