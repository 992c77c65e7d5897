import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '../common/clock.js';
import type { GitHubProviderSettings } from '../config/settings.js';
import type { GitHubApi } from './github-api.js';
import { readJsonObject } from './response-body.js';
import { UpstreamError } from './upstream-error.js';

export interface InstallationToken {
  readonly token: string;
  /** Whether it may read memberships: without that a 404 says nothing. */
  readonly readsMembers: boolean;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

type AppSettings = NonNullable<GitHubProviderSettings['app']>;

/** GitHub refuses an app token issued in its future or living longer than ten minutes. */
const BACKDATED_SECONDS = 60;
const LIFETIME_SECONDS = 540;

const RENEW_BEFORE_MS = 5 * 60 * 1000;

/** The tokens by which a GitHub App reads one organisation each, kept until they are nearly over. */
export class GitHubAppTokens {
  private readonly privateKey: KeyObject;
  private readonly known = new Map<string, Promise<InstallationToken | null>>();

  constructor(
    private readonly app: AppSettings,
    private readonly api: GitHubApi,
    private readonly clock: Clock,
  ) {
    this.privateKey = createPrivateKey(app.privateKey);
  }

  /**
   * The token for an organisation (lower case); null when the app is not installed there.
   * @throws UpstreamError
   */
  async forOrg(org: string): Promise<InstallationToken | null> {
    const kept = this.known.get(org);
    const token = await kept;
    if (token && token.expiresAt - RENEW_BEFORE_MS > this.clock.now()) {
      return token;
    }
    // Whoever comes first asks; the others wait for the same answer.
    if (this.known.get(org) === kept) {
      const asked = this.ask(org);
      this.known.set(org, asked);
      asked.catch(() => this.known.delete(org));
    }
    return (await this.known.get(org)) ?? null;
  }

  /** Forgets a token that GitHub did not accept. */
  forget(org: string): void {
    this.known.delete(org);
  }

  private async ask(org: string): Promise<InstallationToken | null> {
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
    const body = await readJsonObject(response);
    const permissions = body['permissions'] as { readonly members?: unknown } | undefined;
    const expiresAt = Date.parse(String(body['expires_at']));
    if (typeof body['token'] !== 'string' || Number.isNaN(expiresAt)) {
      throw new UpstreamError('unexpected_answer');
    }
    return {
      token: body['token'],
      readsMembers: permissions?.members === 'read' || permissions?.members === 'write',
      expiresAt,
    };
  }

  /** An installation of another account would answer 404 for every member: its name is compared. */
  private async installationOf(org: string, jwt: string): Promise<string | null> {
    const { installationIdByOrg } = this.app;
    const id = Object.hasOwn(installationIdByOrg, org) ? installationIdByOrg[org] : undefined;
    const path = id === undefined ? ['orgs', org, 'installation'] : ['app', 'installations', id];
    const response = await this.api.call(path, jwt);
    if (response.status === 404) {
      return null;
    }
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    const body = await readJsonObject(response);
    const account = body['account'] as { readonly login?: unknown } | undefined;
    const isItsOwn = String(account?.login).toLowerCase() === org;
    return isItsOwn && !body['suspended_at'] ? String(body['id']) : null;
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
