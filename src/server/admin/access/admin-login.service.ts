import { Inject, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '../../../common/sha256.js';
import { RefusedPeopleService } from '../../audit/refused-people.service.js';
import { AppError, orRefuse } from '../../../common/errors.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { adminConfig, type AdminSettings } from '../../config/admin.config.js';
import { toOperatorName } from '../../../core/policy/audit-event.js';
import { composed } from '../../../core/policy/eligibility/comparable-names.js';
import type { EligibilityFacts } from '../../../core/policy/eligibility/eligibility.js';
import {
  ProviderError,
  type IdentityProvider,
  type ProviderProfile,
} from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import type { AdminCaller, AdminRole } from './admin-caller.js';
import { AdminSessionsService, cookieName } from './admin-sessions.service.js';

const CALLBACK_PATH = '/admin/v1/login/callback';
const LIFETIME_MS = 10 * 60_000;

interface LoginContents {
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  /** SHA-256 of a secret in the cookie of the starting browser, which alone may finish. */
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
    private readonly sessions: AdminSessionsService,
    private readonly refusals: RefusedPeopleService,
    private readonly runtime: Runtime,
    @Inject(adminConfig.KEY) private readonly config: AdminSettings,
  ) {
    this.cookie = cookieName('login', this.sessions.isSecure);
  }

  /** @returns the address of the provider. @throws AppError `not-found`, `unavailable` */
  async start(reply: FastifyReply): Promise<string> {
    const { provider, publicUrl } = this.known();
    const { random } = this.runtime;
    const [state, browser] = [random.secret(), random.secret()];
    const kept = {
      redirectUri: `${publicUrl}${CALLBACK_PATH}`,
      nonce: random.secret(),
      codeVerifier: random.secret(),
    };
    const url = await provider.authorizationUrl({ ...kept, state }).catch((error: unknown) => {
      throw toRefusal(error, provider.id);
    });
    const contents: LoginContents = { ...kept, browserHash: sha256(browser).toString('hex') };
    await this.flows.add('admin-login', contents, LIFETIME_MS, state);
    void reply.setCookie(this.cookie, browser, {
      httpOnly: true,
      secure: this.sessions.isSecure,
      path: '/',
      // The redirect comes from the provider, with which browsers do not send a strict cookie.
      sameSite: 'lax',
      maxAge: LIFETIME_MS / 1000,
    });
    return url.href;
  }

  /**
   * Starts the session after the provider has confirmed the login.
   * @throws AppError `not-found`, `invalid-pending`, `not-eligible`, `unavailable`
   */
  async finish(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { provider } = this.known();
    const search = request.url.slice(request.url.indexOf('?'));
    const state = new URLSearchParams(search).get('state') ?? '';
    const browserHash = sha256(request.cookies[this.cookie] ?? '').toString('hex');
    const flow = orRefuse(
      await this.flows.takeChecked<LoginContents>('admin-login', state, (login) =>
        requireBrowser(login, browserHash),
      ),
      'invalid-pending',
    );
    const callback = new URL(flow.redirectUri);
    callback.search = search;
    const checkedAt = this.runtime.clock.now();
    const { profile, providerSession } = await provider
      .exchange(callback, { ...flow, state })
      .catch((error: unknown) => {
        this.logRefusal(error, provider.id);
        throw toRefusal(error, provider.id);
      });
    const caller = this.callerFor(provider.id, profile);
    const address = request.ip;
    if (caller === null) {
      this.logger.warn({ msg: 'login of an administrator refused', provider: provider.id });
      const reason = 'group_missing';
      const refusal = { provider: provider.id, ...profile, address, reason };
      await this.refusals.add(refusal, 'admin-login-refused');
      throw new AppError('not-eligible', { provider: provider.id });
    }
    const { subject, facts } = profile;
    const login = { provider: provider.id, subject, facts, checkedAt, providerSession };
    if (!(await this.sessions.admitsLogin(login, address))) {
      throw new AppError('not-eligible', { provider: provider.id });
    }
    void reply.clearCookie(this.cookie, { path: '/', secure: this.sessions.isSecure });
    await this.sessions.begin(caller, login, address, reply);
    this.logger.log({ msg: 'administrator signed in', name: caller.name, role: caller.role });
  }

  private logRefusal(error: unknown, provider: string): void {
    if (error instanceof ProviderError) {
      const { refusal, detail } = error;
      const cause = error.cause instanceof Error ? error.cause.message : undefined;
      const msg = 'login of an administrator refused by the provider';
      this.logger.warn({ msg, provider, refusal, detail, cause });
    }
  }

  /** Returns null for a person in none of the groups. */
  private callerFor(provider: string, { subject, facts }: ProviderProfile): AdminCaller | null {
    const { operateGroups, readGroups } = this.config.login;
    const isIn = (groups: readonly string[]): boolean => groups.some((one) => isMember(facts, one));
    const read = isIn(readGroups) ? 'read' : null;
    const role: AdminRole | null = isIn(operateGroups) ? 'operate' : read;
    // People may choose their login, and an unverified address.
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

/** A stranger who has read `state` must not end the login that it belongs to. */
function requireBrowser(login: LoginContents, browserHash: string): void {
  if (login.browserHash !== browserHash) {
    throw new AppError('invalid-pending');
  }
}

function isMember({ groups, memberships }: EligibilityFacts, group: string): boolean {
  const isNamed = groups?.some((one) => composed(one) === composed(group)) === true;
  return isNamed || memberships[group.toLowerCase()] === 'active';
}

function toRefusal(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError)) {
    return error;
  }
  const code = error.refusal === 'access_denied' ? 'not-eligible' : 'unavailable';
  return new AppError(code, { provider }, { cause: error.cause ?? error });
}
