import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose';
import {
  startLocalServer,
  type Answer,
  type LocalRequest,
  type LocalServer,
} from '../helpers/local-server.js';

export const PEOPLE_CLIENT = { id: 'gatehouse', secret: 'a-secret-of-the-people-provider' };
const KEY_ID = 'people-key';
const OTHER_KEY_ID = 'other-people-key';

/** Claims and header that replace the correct ones. */
export interface LogoutTokenChanges {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the provider does not publish. */
  readonly isForged?: boolean;
  /** Signs with a published key, by an algorithm that the provider does not list. */
  readonly isOfOtherAlgorithm?: boolean;
  readonly isUnsigned?: boolean;
}

interface Grant {
  readonly sub: string;
  readonly sid?: string | undefined;
  readonly nonce?: string | undefined;
}

/**
 * For any number of people, without authentication. A refresh token is `<sub>.<n>`: it rotates, and
 * a spent one is refused like a stolen one.
 */
export class PeopleProvider {
  readonly groups = new Map<string, readonly string[]>();
  readonly checks = new Map<string, number>();
  /** Object ids of Microsoft Entra ID, by subject. */
  readonly oids = new Map<string, string>();
  /** E-mail addresses by subject. */
  readonly emails = new Map<string, { readonly email: string; readonly isVerified: boolean }>();
  /** Logins by subject. Default: the subject. */
  readonly logins = new Map<string, string>();
  isDown = false;
  /** While true, its keys are answered with 503. */
  areKeysDown = false;
  /** Signs ID tokens with a key that it does not publish. */
  forgesIdTokens = false;
  /** False: a refresh returns no ID token (Core, 12.2), and userinfo has no groups. */
  givesIdTokens = true;
  /** Unix milliseconds. */
  now: () => number = Date.now;
  delayMs = 0;
  refusesClient = false;
  /** False means that answers contain no refresh token. */
  givesRefreshTokens = true;
  private readonly codes = new Map<string, Grant>();
  private readonly newest = new Map<string, number>();
  private server!: LocalServer;
  private privateKey!: CryptoKey;
  private otherKey!: CryptoKey;
  private jwks!: readonly JWK[];
  private kid = KEY_ID;

  static async start(): Promise<PeopleProvider> {
    const provider = new PeopleProvider();
    const listed = await generateKeyPair('ES256', { extractable: true });
    const other = await generateKeyPair('ES384', { extractable: true });
    provider.privateKey = listed.privateKey;
    provider.otherKey = other.privateKey;
    provider.jwks = [
      { ...(await exportJWK(listed.publicKey)), kid: KEY_ID, alg: 'ES256', use: 'sig' },
      { ...(await exportJWK(other.publicKey)), kid: OTHER_KEY_ID, alg: 'ES384', use: 'sig' },
    ];
    provider.server = await startLocalServer((request) => provider.answer(request));
    return provider;
  }

  get issuer(): string {
    return this.server.url;
  }

  /** One entry of AUTH_PROVIDERS_CONFIG_JSON, with which members of `staff` are eligible. */
  get entry(): object {
    return {
      id: 'people',
      type: 'oidc',
      issuer: this.issuer,
      clientId: PEOPLE_CLIENT.id,
      clientSecret: PEOPLE_CLIENT.secret,
      storeRefreshToken: true,
      httpTimeoutSeconds: 60,
      allow: { groupsAny: ['staff'] },
    };
  }

  get totalChecks(): number {
    return [...this.checks.values()].reduce((sum, count) => sum + count, 0);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** Signs with another key from now on, and publishes it in place of the former one. */
  async rotate(): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    this.kid = randomUUID();
    this.privateKey = privateKey;
    const key = { ...(await exportJWK(publicKey)), kid: this.kid, alg: 'ES256', use: 'sig' };
    this.jwks = [key, ...this.jwks.slice(1)];
  }

  /** Creates a member of staff, with the refresh token of a login. */
  add(sub: string): string {
    this.groups.set(sub, ['staff']);
    return `${sub}.0`;
  }

  /**
   * Opens the authorization address as a browser of a person who agrees does.
   * @param sid absent = the ID tokens name no session
   */
  authorize(address: string, sub: string, sid?: string): URL {
    const { searchParams: parameters } = new URL(address);
    const code = randomUUID();
    this.codes.set(code, { sub, sid, nonce: parameters.get('nonce') ?? undefined });
    const callback = new URL(parameters.get('redirect_uri') ?? '');
    callback.searchParams.set('code', code);
    callback.searchParams.set('state', parameters.get('state') ?? '');
    return callback;
  }

  /** Returns a token as the conformance suite of OpenID sends it: without a type. */
  async logoutToken(sub: string, changes: LogoutTokenChanges = {}): Promise<string> {
    const now = Math.floor(this.now() / 1000);
    const claims = {
      iss: this.issuer,
      aud: PEOPLE_CLIENT.id,
      sub,
      iat: now,
      exp: now + 120,
      jti: randomUUID(),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...changes.claims,
    };
    const payload = JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
    if (changes.isUnsigned) {
      return new UnsecuredJWT(payload).encode();
    }
    const { isOfOtherAlgorithm = false, isForged = false } = changes;
    const proper = isOfOtherAlgorithm
      ? { alg: 'ES384', kid: OTHER_KEY_ID }
      : { alg: 'ES256', kid: this.kid };
    const header = { ...proper, ...changes.header };
    const own = isOfOtherAlgorithm ? this.otherKey : this.privateKey;
    const key = isForged ? (await generateKeyPair('ES256')).privateKey : own;
    return new SignJWT(payload).setProtectedHeader(header).sign(key);
  }

  private async answer({ url, body, headers }: LocalRequest): Promise<Answer> {
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return { status: 200, json: this.description() };
      case '/jwks':
        return this.areKeysDown ? { status: 503 } : { status: 200, json: { keys: this.jwks } };
      case '/token':
        return this.token(new URLSearchParams(body));
      case '/userinfo': {
        const sub = (headers.authorization ?? '').replace('Bearer for-', '');
        return { status: 200, json: { sub, preferred_username: sub } };
      }
      default:
        return { status: 404 };
    }
  }

  private async token(parameters: URLSearchParams): Promise<Answer> {
    if (this.refusesClient) {
      const headers = { 'www-authenticate': 'Basic realm="people"' };
      return { status: 401, headers, json: { error: 'invalid_client' } };
    }
    const grant = this.codes.get(parameters.get('code') ?? '');
    if (grant === undefined) {
      return this.refresh(parameters.get('refresh_token') ?? '');
    }
    this.codes.delete(parameters.get('code') ?? '');
    const { sub, ...claims } = grant;
    return this.tokens(sub, claims);
  }

  private async refresh(token: string): Promise<Answer> {
    await sleep(this.delayMs);
    const [sub = '', count] = token.split('.');
    this.checks.set(sub, (this.checks.get(sub) ?? 0) + 1);
    if (this.isDown) {
      return { status: 503 };
    }
    const groups = this.groups.get(sub);
    if (groups === undefined || Number(count) !== (this.newest.get(sub) ?? 0)) {
      return { status: 400, json: { error: 'invalid_grant' } };
    }
    return this.tokens(sub, {});
  }

  private async tokens(sub: string, claims: Omit<Grant, 'sub'>): Promise<Answer> {
    const newest = (this.newest.get(sub) ?? 0) + 1;
    this.newest.set(sub, newest);
    const groups = this.groups.get(sub) ?? [];
    const oid = this.oids.get(sub);
    const { email, isVerified } = this.emails.get(sub) ?? {};
    const now = Math.floor(this.now() / 1000);
    const idToken = await new SignJWT({
      ...claims,
      preferred_username: this.logins.get(sub) ?? sub,
      groups,
      ...(oid !== undefined && { oid }),
      ...(email !== undefined && { email, email_verified: isVerified }),
    })
      .setProtectedHeader({ alg: 'ES256', kid: this.forgesIdTokens ? randomUUID() : this.kid })
      .setIssuer(this.issuer)
      .setAudience(PEOPLE_CLIENT.id)
      .setSubject(sub)
      .setIssuedAt(now)
      .setExpirationTime(now + 300)
      .sign(this.privateKey);
    return {
      status: 200,
      json: {
        access_token: `for-${sub}`,
        token_type: 'Bearer',
        expires_in: 300,
        ...(this.givesRefreshTokens && { refresh_token: `${sub}.${newest}` }),
        ...(this.givesIdTokens && { id_token: idToken }),
      },
    };
  }

  private description(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      jwks_uri: `${this.issuer}/jwks`,
      id_token_signing_alg_values_supported: ['ES256'],
      grant_types_supported: this.givesRefreshTokens
        ? ['authorization_code', 'refresh_token']
        : ['authorization_code'],
    };
  }
}
