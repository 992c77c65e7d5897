import { createHash } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { randomSecret } from '../../common/random-secret.js';
import { adminConfig } from '../../config/admin.config.js';
import { toOperatorName } from '../../policy/audit-event.js';
import type { EligibilityFacts } from '../../policy/eligibility/eligibility.js';
import {
  ProviderError,
  type IdentityProvider,
  type ProviderProfile,
} from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import type { AdminCaller, AdminRole } from './admin-caller.js';
import { AdminSessions, cookieName } from './admin-sessions.js';

export const CALLBACK_PATH = '/admin/v1/login/callback';
const LIFETIME_MS = 10 * 60_000;

interface LoginContents {
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  /** SHA-256 of the secret in the cookie of the browser that began: no other one may finish. */
  readonly browserHash: string;
}

/** Logs administrators in with a browser, through the configured provider. */
@Injectable()
export class AdminLoginService {
  private readonly logger = new Logger('Administration');
  private readonly cookie: string;

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly flows: ExternalFlowRepository,
    private readonly sessions: AdminSessions,
    private readonly clock: Clock,
    @Inject(adminConfig.KEY) private readonly config: ConfigType<typeof adminConfig>,
  ) {
    this.cookie = cookieName('login', this.sessions.isSecure);
  }

  /** @returns the address of the provider. @throws AppError `not-found`, `unavailable` */
  async start(reply: FastifyReply): Promise<string> {
    const { provider, publicUrl } = this.known();
    const [state, browser] = [randomSecret(), randomSecret()];
    const kept = {
      redirectUri: `${publicUrl}${CALLBACK_PATH}`,
      ...{ nonce: randomSecret(), codeVerifier: randomSecret() },
    };
    const url = await provider.authorizationUrl({ ...kept, state }).catch((error: unknown) => {
      throw toRefusal(error, provider.id);
    });
    const contents: LoginContents = { ...kept, browserHash: hashOf(browser) };
    const expiresAt = new Date(this.clock.now() + LIFETIME_MS);
    await this.flows.add('admin-login', state, contents, expiresAt);
    void reply.setCookie(this.cookie, browser, {
      ...{ httpOnly: true, secure: this.sessions.isSecure, path: '/' },
      // The provider sends the browser back: a strict cookie would stay behind.
      ...{ sameSite: 'lax', maxAge: LIFETIME_MS / 1000 },
    });
    return url.href;
  }

  /**
   * Begins the session of an administrator, once the provider has confirmed the login.
   *
   * @throws AppError `not-found`, `invalid-pending`, `not-eligible`, `unavailable`
   */
  async finish(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { provider } = this.known();
    const search = request.url.slice(request.url.indexOf('?'));
    const state = new URLSearchParams(search).get('state') ?? '';
    const now = new Date(this.clock.now());
    const flow = await this.flows.take<LoginContents>('admin-login', state, now);
    if (flow === null || hashOf(request.cookies[this.cookie] ?? '') !== flow.browserHash) {
      throw new AppError('invalid-pending');
    }
    const callback = new URL(flow.redirectUri);
    callback.search = search;
    const { profile } = await provider
      .exchange(callback, { ...flow, state })
      .catch((error: unknown) => {
        throw toRefusal(error, provider.id);
      });
    const caller = this.callerFor(provider.id, profile);
    if (caller === null) {
      this.logger.warn({ msg: 'login of an administrator refused', provider: provider.id });
      throw new AppError('not-eligible', { provider: provider.id });
    }
    void reply.clearCookie(this.cookie, { path: '/', secure: this.sessions.isSecure });
    await this.sessions.begin(caller, reply);
    this.logger.log({ msg: 'administrator logged in', name: caller.name, role: caller.role });
  }

  /** null for a person in none of the groups. */
  private callerFor(provider: string, { subject, facts }: ProviderProfile): AdminCaller | null {
    const { operateGroups, readGroups } = this.config.login;
    const isIn = (groups: readonly string[]): boolean => groups.some((one) => isMember(facts, one));
    const read = isIn(readGroups) ? 'read' : null;
    const role: AdminRole | null = isIn(operateGroups) ? 'operate' : read;
    // A login is text that people may choose; an address that is not verified as well.
    const named = (facts.emailVerified ? facts.email : null) ?? subject;
    const name = toOperatorName(`${provider}:${named}`) ?? toOperatorName(`${provider}:${subject}`);
    return role && name && { name, role, method: 'login' };
  }

  private known(): { provider: IdentityProvider; publicUrl: string } {
    const { login, publicUrl } = this.config;
    const provider = login.provider === null ? undefined : this.providers.get(login.provider);
    if (provider === undefined || publicUrl === null) {
      throw new AppError('not-found');
    }
    return { provider, publicUrl };
  }
}

function isMember({ groups, memberships }: EligibilityFacts, group: string): boolean {
  return groups?.includes(group) === true || memberships[group.toLowerCase()] === 'active';
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function toRefusal(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError)) {
    return error;
  }
  const code = error.refusal === 'access_denied' ? 'not-eligible' : 'unavailable';
  return new AppError(code, { provider }, { cause: error.cause ?? error });
}
