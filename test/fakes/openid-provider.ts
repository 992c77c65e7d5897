import { createHash, randomBytes } from 'node:crypto';
import { get as getPlainly, type IncomingHttpHeaders } from 'node:http';
import { get as getSecurely } from 'node:https';
import type { LookupFunction } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose';
import {
  startLocalServer,
  type Answer,
  type Fault,
  type LocalRequest,
  type LocalServer,
  type LocalTls,
} from '../helpers/local-server.js';

export const CLIENT = { id: 'gatehouse', secret: 'a client secret with : and %' };

type Json = Record<string, unknown>;

/** One deviation of the provider. All other behaviour is correct. */
export interface Breakage {
  readonly discovery?: (document: Json) => Json;
  readonly callback?: (parameters: URLSearchParams) => void;
  readonly claims?: (claims: Json) => Json;
  readonly header?: (header: { alg: string; kid?: string }) => object;
  readonly signature?: 'none' | 'hs256' | 'foreign-key' | 'flipped';
  readonly userInfo?: (claims: Json) => Json;
  readonly tokenAnswer?: (answer: Json) => Json;
  readonly keySet?: (keys: readonly JWK[], foreign: JWK) => readonly unknown[];
  readonly beforeSigning?: (provider: FakeOpenIdProvider) => Promise<void>;
  /** True if `claims` applies at a refresh only. */
  readonly onRefreshOnly?: true;
}

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

async function makeKey(alg: string): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomBytes(6).toString('hex');
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** The keys of all providers of a spec. */
let rsaKeys: Promise<readonly Key[]> | null = null;

/**
 * Keys are slow to generate, so all exist before the first request. The first is never published.
 */
function keysOfAll(): Promise<readonly Key[]> {
  rsaKeys ??= Promise.all(Array.from({ length: 4 }, () => makeKey('RS256')));
  return rsaKeys;
}

interface Grant {
  readonly nonce: string | null;
  readonly challenge: string | null;
}

/** A whole OpenID provider for one person at a time, with faults that a test selects. */
export class FakeOpenIdProvider {
  breakage: Breakage = {};
  readonly faults = new Map<string, Fault>();
  readonly requests: string[] = [];
  person: Json = { sub: 'person-1', preferred_username: 'alice', email: 'alice@acme.example' };
  isRevoked = false;
  /** False for a provider that reads Basic credentials without their percent-encoding. */
  decodesBasic = true;
  /** The only method that the client is registered with; null = any. */
  registeredMethod: string | null = null;
  /** The methods with which the client authenticated. */
  readonly authMethods: string[] = [];
  readonly refreshTokens: string[] = [];
  private readonly codes = new Map<string, Grant>();
  private keys: Key[] = [];
  private spareKeys: Key[] = [];
  private foreignKey!: Key;
  private server!: LocalServer;

  static async start(tls?: LocalTls): Promise<FakeOpenIdProvider> {
    const provider = new FakeOpenIdProvider();
    provider.server = await startLocalServer((request) => provider.answer(request), tls);
    const [foreign, ...own] = await keysOfAll();
    provider.foreignKey = foreign as Key;
    provider.keys = own.splice(0, 1);
    provider.spareKeys = own;
    return provider;
  }

  get issuer(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** @param keepOld publishes the former keys as well */
  async rotateKeys(alg = 'RS256', keepOld = false): Promise<void> {
    const spare = alg === 'RS256' ? this.spareKeys.shift() : undefined;
    this.keys = [spare ?? (await makeKey(alg)), ...(keepOld ? this.keys : [])];
  }

  /** Opens the authorization address as a browser does; the person agrees and is redirected. */
  async authorize(url: URL): Promise<URL> {
    const { location = '' } = await this.visit(url);
    return new URL(location);
  }

  /** Any host name of the address leads to this provider. */
  private visit(url: URL): Promise<IncomingHttpHeaders> {
    const get = url.protocol === 'https:' ? getSecurely : getPlainly;
    return new Promise((resolve, reject) => {
      const lookup: LookupFunction = (_name, options, done) =>
        options.all === true
          ? done(null, [{ address: '127.0.0.1', family: 4 }])
          : done(null, '127.0.0.1', 4);
      get(url, { lookup, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve(response.headers);
      }).on('error', reject);
    });
  }

  private answer(request: LocalRequest): Promise<Answer | Fault> | Answer | Fault {
    const { pathname } = request.url;
    this.requests.push(pathname);
    const fault = this.faults.get(pathname);
    if (fault !== undefined) {
      return fault;
    }
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return { status: 200, json: this.discovery() };
      case '/jwks':
        return { status: 200, json: { keys: this.keySet() } };
      case '/authorize':
        return this.authorization(request.url.searchParams);
      case '/token':
        return this.token(request);
      case '/userinfo':
        return this.userInfo(request);
      default:
        return { status: 404, json: { error: 'not_found' } };
    }
  }

  private discovery(): Json {
    const document = {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      jwks_uri: `${this.issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
    };
    return this.breakage.discovery?.(document) ?? document;
  }

  private keySet(): readonly unknown[] {
    const keys = this.keys.map(({ jwk }) => jwk);
    return this.breakage.keySet?.(keys, this.foreignKey.jwk) ?? keys;
  }

  private authorization(parameters: URLSearchParams): Answer {
    const code = randomBytes(9).toString('base64url');
    const isPkce = parameters.get('code_challenge_method') === 'S256';
    this.codes.set(code, {
      nonce: parameters.get('nonce'),
      challenge: isPkce ? parameters.get('code_challenge') : null,
    });
    const location = new URL(parameters.get('redirect_uri') ?? '');
    location.searchParams.set('code', code);
    location.searchParams.set('state', parameters.get('state') ?? '');
    location.searchParams.set('iss', this.issuer);
    this.breakage.callback?.(location.searchParams);
    return { status: 302, headers: { location: location.href } };
  }

  private async token(request: LocalRequest): Promise<Answer> {
    const parameters = new URLSearchParams(request.body);
    const { authorization } = request.headers;
    this.authMethods.push(
      authorization === undefined ? 'client_secret_post' : 'client_secret_basic',
    );
    const isRegistered = [null, this.authMethods.at(-1)].includes(this.registeredMethod);
    if (!isRegistered || !isClient(authorization, parameters, this.decodesBasic)) {
      return { status: 400, json: { error: 'invalid_client' } };
    }
    const isRefresh = parameters.get('grant_type') === 'refresh_token';
    const grant = isRefresh ? this.spendRefreshToken(parameters) : this.spendCode(parameters);
    if (grant === null || this.isRevoked) {
      return { status: 400, json: { error: 'invalid_grant' } };
    }
    const refreshToken = randomBytes(9).toString('base64url');
    this.refreshTokens.unshift(refreshToken);
    const answer = {
      access_token: 'an-access-token',
      token_type: 'Bearer',
      expires_in: 300,
      refresh_token: refreshToken,
      id_token: await this.idToken(grant.nonce, isRefresh),
    };
    return { status: 200, json: this.breakage.tokenAnswer?.(answer) ?? answer };
  }

  private spendCode(parameters: URLSearchParams): Grant | null {
    const code = parameters.get('code') ?? '';
    const grant = this.codes.get(code) ?? null;
    this.codes.delete(code);
    const verifier = parameters.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    return grant?.challenge === challenge ? grant : null;
  }

  /** Refresh tokens rotate, and each is valid once. */
  private spendRefreshToken(parameters: URLSearchParams): Grant | null {
    const at = this.refreshTokens.indexOf(parameters.get('refresh_token') ?? '');
    if (at >= 0) {
      this.refreshTokens.splice(at, 1);
    }
    return at >= 0 ? { nonce: null, challenge: null } : null;
  }

  private userInfo(request: LocalRequest): Answer {
    if (request.headers['authorization'] !== 'Bearer an-access-token') {
      return { status: 401 };
    }
    return { status: 200, json: this.breakage.userInfo?.(this.person) ?? this.person };
  }

  private async idToken(nonce: string | null, isRefresh: boolean): Promise<string> {
    await this.breakage.beforeSigning?.(this);
    const now = Math.floor(Date.now() / 1000);
    const proper: Json = {
      ...this.person,
      iss: this.issuer,
      aud: CLIENT.id,
      iat: now,
      exp: now + 300,
      ...(nonce !== null && { nonce }),
    };
    const isBroken = isRefresh || this.breakage.onRefreshOnly !== true;
    const claims = isBroken ? (this.breakage.claims?.(proper) ?? proper) : proper;
    return this.sign(claims);
  }

  private async sign(claims: Json): Promise<string> {
    const [key] = this.keys;
    if (key === undefined) {
      throw new Error('no key');
    }
    const proper = { alg: key.alg, kid: key.kid };
    const header = (this.breakage.header?.(proper) ?? proper) as typeof proper;
    switch (this.breakage.signature) {
      case 'none':
        return new UnsecuredJWT(claims).encode();
      case 'hs256': {
        const secret = new TextEncoder().encode(CLIENT.secret.padEnd(32, '.'));
        return new SignJWT(claims).setProtectedHeader({ ...header, alg: 'HS256' }).sign(secret);
      }
      case 'foreign-key': {
        return new SignJWT(claims).setProtectedHeader(header).sign(this.foreignKey.privateKey);
      }
      case 'flipped': {
        const token = await new SignJWT(claims).setProtectedHeader(header).sign(key.privateKey);
        const at = token.lastIndexOf('.') + 5;
        return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      }
      case undefined:
        return new SignJWT(claims)
          .setProtectedHeader(header)
          .sign(key.privateKey, { crit: { 'x-unknown': true } });
    }
  }
}

/** RFC 6749, 2.3.1: both parts of Basic credentials are form-encoded before they are joined. */
function isClient(
  authorization: string | undefined,
  parameters: URLSearchParams,
  isDecoded: boolean,
): boolean {
  if (authorization === undefined) {
    const { id, secret } = CLIENT;
    return parameters.get('client_id') === id && parameters.get('client_secret') === secret;
  }
  const basic = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
  const [id = '', ...rest] = basic.split(':');
  const decoded = [id, rest.join(':')].map((part) =>
    isDecoded ? decodeURIComponent(part.replaceAll('+', ' ')) : part,
  );
  return decoded[0] === CLIENT.id && decoded[1] === CLIENT.secret;
}
