import { Inject, Injectable } from '@nestjs/common';
import { jwtVerify, type JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import { isAmbiguousJwt } from '../../common/ambiguous-jwt.js';
import { SESSION_CLIENT } from '../../core/policy/admission/scopes.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { isUuid } from '../../common/uuid.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import type { ResourceSession } from '../storage/repositories/oauth/resource-session.repository.js';
import { SigningKeysService, type SigningKey } from './signing-keys.service.js';
import { signToken } from './token-signature.js';

/** The type of access tokens as JWT (RFC 9068, 2.1): no other token passes as one. */
const TYPE = 'at+jwt';
/** About 1 kB each, and more with many scopes. */
const MAX_VERIFIED = 20_000;

/** Claims of an access token for a backend (RFC 9068, 2.2). Times are in seconds. */
export interface ResourceTokenClaims extends JWTPayload {
  readonly sub: string;
  readonly sid: string;
  /** {@link SESSION_CLIENT}, or the program that acts for the person. */
  readonly client_id: string;
  /**
   * Tokens of a program alone have these three, and `@gatehouse/guard` refuses them otherwise. The name
   * is the one that the person approved, and the id is that of the grant.
   */
  readonly scope?: string;
  readonly client_name?: string;
  readonly grant_id?: string;
  readonly iat: number;
  readonly exp: number;
  readonly session_exp: number;
  readonly login_method: string;
  readonly login?: string;
  readonly email?: string;
}

/** The program that a token is for. */
interface ProgramClaims {
  readonly clientId: string;
  readonly clientName: string;
  readonly grantId: string;
  readonly scopes: readonly string[];
  readonly tokenSeconds: number;
}

interface Verified {
  readonly key: SigningKey;
  readonly claims: ResourceTokenClaims;
}

/** Issues and verifies the access tokens of backends. */
@Injectable()
export class ResourceTokenService {
  private readonly verified = new LRUCache<string, Verified>({ max: MAX_VERIFIED });
  private readonly issuer: string;

  constructor(
    private readonly keys: SigningKeysService,
    private readonly runtime: Runtime,
    @Inject(httpConfig.KEY) http: HttpSettings,
  ) {
    this.issuer = http.publicUrl ?? '';
  }

  /**
   * @param judge judges the session in storage. The token lives from before that: an end that follows
   *   is remembered for longer
   * @returns the token, and its lifetime in seconds, which never exceeds that of the session
   */
  async issue(
    server: ResourceServerSettings,
    accountId: string,
    judge: () => Promise<ResourceSession>,
  ): Promise<{ token: string; expiresIn: number }> {
    const iat = this.issuedAt();
    return this.sign(server, accountId, iat, await judge());
  }

  /** The time of a token whose session is judged next, in Unix seconds. */
  issuedAt(): number {
    return Math.floor(this.runtime.clock.now() / 1000);
  }

  /** As {@link issue}, where the session was judged after `iat`. */
  async sign(
    server: ResourceServerSettings,
    accountId: string,
    iat: number,
    session: ResourceSession & { readonly program?: ProgramClaims },
  ): Promise<{ token: string; expiresIn: number }> {
    const { program } = session;
    const sessionExp = Math.floor(session.expiresAt / 1000);
    const exp = Math.min(iat + (program?.tokenSeconds ?? server.maxTokenSeconds), sessionExp);
    const token = await signToken(this.keys.current(server.tokenAlg), TYPE, {
      iss: this.issuer,
      aud: server.resource,
      sub: accountId,
      iat,
      exp,
      jti: this.runtime.random.uuid(),
      sid: session.id,
      client_id: program?.clientId ?? SESSION_CLIENT,
      ...(program !== undefined && programClaimsOf(program)),
      auth_time: Math.floor(session.authenticatedAt / 1000),
      session_exp: sessionExp,
      login_method: session.method === 'key_challenge' ? 'device-key' : session.method,
      ...claimsOf(server, session),
    });
    return { token, expiresIn: exp - iat };
  }

  /**
   * Verifies the signature, the issuer, the audience and the times. A verified token is remembered.
   *
   * @returns null for any other text
   */
  async verify(token: string, server: ResourceServerSettings): Promise<ResourceTokenClaims | null> {
    const known = this.verified.get(token);
    const key =
      known === undefined
        ? await this.keys.signerOf(token, server.tokenAlg)
        : this.keys.find(known.key.kid, server.tokenAlg);
    if (key === undefined) {
      return null;
    }
    const claims = known?.claims ?? (await this.verifyWith(key, token, server));
    const isFor = claims?.aud === server.resource;
    return claims !== null && isFor && claims.exp * 1000 > this.runtime.clock.now() ? claims : null;
  }

  private async verifyWith(
    key: SigningKey,
    token: string,
    server: ResourceServerSettings,
  ): Promise<ResourceTokenClaims | null> {
    try {
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: [server.tokenAlg],
        typ: TYPE,
        issuer: this.issuer,
        audience: server.resource,
        requiredClaims: ['sub', 'sid', 'client_id', 'iat', 'exp', 'session_exp', 'login_method'],
        currentDate: new Date(this.runtime.clock.now()),
      });
      const claims = payload as ResourceTokenClaims;
      const hasIds = isUuid(claims.sid) && isUuid(claims.sub) && isClientId(claims.client_id);
      if (!hasIds || isAmbiguousJwt(token)) {
        return null;
      }
      this.verified.set(token, { key, claims });
      return claims;
    } catch {
      return null;
    }
  }
}

function isClientId(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function programClaimsOf({ scopes, clientName, grantId }: ProgramClaims): object {
  return { scope: scopes.join(' '), client_name: clientName, grant_id: grantId };
}

/** The names of the person: of the identity that signed in, or else of the first that has one. */
function claimsOf(
  { claims }: ResourceServerSettings,
  { method, identities }: ResourceSession,
): Readonly<Record<string, string>> {
  const ordered = [
    ...identities.filter(({ provider }) => provider === method),
    ...identities.filter(({ provider }) => provider !== method),
  ];
  const found = claims.map((name) => {
    const value = ordered.map((identity) => identity[name]).find((one) => one !== null);
    return [name, value] as const;
  });
  return Object.fromEntries(
    found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
