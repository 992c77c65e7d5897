import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../../common/clock.js';
import { toAppError } from '../../common/error.filter.js';
import { AppError, ERRORS } from '../../common/errors.js';
import { oauthReturnConfig } from '../../config/browser.config.js';
import { encryptionConfig } from '../../config/encryption.config.js';
import { Admission } from '../../auth/admission.js';
import { returnAddressFor } from '../../policy/flow/return-address.js';
import { isOfAuthority } from '../../policy/eligibility/identity-link.js';
import { loopbackCode } from '../../policy/flow/loopback-code.js';
import { ProviderError, type IdentityProvider } from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import { IdentityRepository } from '../../storage/repositories/identity.repository.js';
import { RateLimits } from '../../auth/rate-limits.js';
import { randomSecret } from '../../common/random-secret.js';
import { LIFETIME_MS, type FlowContents, type PendingContents } from './pending-logins.js';
import { IdentityLinks } from '../../identities/identity-links.js';
import { IdentityChanges } from '../../identities/identity-changes.js';
import type { LoopbackQuestion } from './loopback-page.js';
import { requireProviderLogin } from './provider-start.service.js';
import { loopbackAddress, returnLocation, type ReturnQuery } from './return-location.js';

/** The form of `state` and `pending`. */
const SECRET = /^[\w-]{43}$/;

/** The answer to a callback. */
export interface CallbackAnswer {
  readonly location: string;
  /** To confirm before the redirect; null = redirect at once. */
  readonly question: LoopbackQuestion | null;
  readonly flow: 'auth' | 'connect';
  /** The error in the return address; null when the login continues. */
  readonly error: string | null;
}

/**
 * Handles the callback of a provider. The answer is always a redirect to the client: the caller is a
 * browser with a user, not a program.
 */
@Injectable()
export class ProviderCallbackService {
  private readonly logger = new Logger(ProviderCallbackService.name);

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly flows: ExternalFlowRepository,
    private readonly identities: IdentityRepository,
    private readonly links: IdentityLinks,
    private readonly changes: IdentityChanges,
    private readonly limits: RateLimits,
    private readonly clock: Clock,
    private readonly admission: Admission,
    @Inject(encryptionConfig.KEY) private readonly encryption: ConfigType<typeof encryptionConfig>,
    @Inject(oauthReturnConfig.KEY)
    private readonly oauthReturn: ConfigType<typeof oauthReturnConfig>,
  ) {}

  /**
   * @param search the query of the redirect as it arrived
   * @param address of the browser, for the login limit
   * @throws AppError `unsupported-provider`, `oauth-not-configured`: without a return address
   */
  async handleCallback(id: string, search: string, address: string): Promise<CallbackAnswer> {
    const provider = this.providers.get(id);
    const base = provider === undefined ? null : returnAddressFor(this.oauthReturn, id);
    if (provider === undefined || base === null) {
      const code = provider === undefined ? 'unsupported-provider' : 'oauth-not-configured';
      throw new AppError(code, { provider: id });
    }
    let flow: FlowContents | null = null;
    const to = (answer: Omit<ReturnQuery, 'flow'>): CallbackAnswer =>
      this.answerTo(flow, search, base, { flow: nameOf(flow), ...answer });
    try {
      await this.limits.count('loginPerIp', address);
      flow = await this.takeFlow(id, search);
      const answer =
        flow === null ? { error: 'invalid_state' } : await this.prove(provider, flow, search);
      return to(answer);
    } catch (error) {
      return to({ error: this.toReturnError(error, id) });
    }
  }

  private answerTo(
    flow: FlowContents | null,
    search: string,
    base: string,
    query: ReturnQuery,
  ): CallbackAnswer {
    const { flow: name, pending = null, error = null } = query;
    const port = flow?.loopbackPort ?? null;
    if (flow === null || port === null) {
      return { location: returnLocation(base, query), question: null, flow: name, error };
    }
    const location = returnLocation(loopbackAddress(port, flow.provider), query);
    const provider = this.providers.displayName(flow.provider);
    const code = loopbackCode(new URLSearchParams(search).get('state') ?? '');
    const question = { provider, port, code, flow: name, error, pending, location };
    return { location, question, flow: name, error };
  }

  /** A state is used up by its first request, at the address of any provider (mix-up attacks). */
  private async takeFlow(provider: string, search: string): Promise<FlowContents | null> {
    const [state = '', ...more] = new URLSearchParams(search).getAll('state');
    if (!SECRET.test(state) || more.length > 0) {
      return null;
    }
    const now = new Date(this.clock.now());
    const flow = await this.flows.take<FlowContents>('external-flow', state, now);
    const isOff = (flow?.loopbackPort ?? null) !== null && !this.oauthReturn.loopbackEnabled;
    return flow?.provider === provider && !isOff ? flow : null;
  }

  private async prove(
    provider: IdentityProvider,
    flow: FlowContents,
    search: string,
  ): Promise<Omit<ReturnQuery, 'flow'>> {
    const isLogin = flow.holder.accountId === null;
    if (isLogin) {
      requireProviderLogin(this.admission, provider.id, flow.mode);
    } else {
      this.admission.require(provider.id, 'connect', flow.mode);
    }
    const proven = await this.exchange(provider, flow, search);
    const known = await this.identities.find(provider.id, proven.subject);
    if (known !== null && !isOfAuthority(known.issuer, this.links.authorityOf(provider.id))) {
      throw this.changes.refuseForeign(provider.id, known.issuer);
    }
    const pending = randomSecret();
    const expiresAt = new Date(this.clock.now() + LIFETIME_MS);
    await this.flows.add('external-pending', pending, proven, expiresAt);
    const { mode } = flow;
    const answer = { pending, mode, storagePolicy: this.encryption.storagePolicy };
    if (known !== null) {
      return { ...answer, accountMode: known.accountMode };
    }
    const provisioningModes = [
      ...(this.admission.allows(provider.id, 'provision', 'keyless') ? ['plain'] : []),
      ...(this.admission.allows(provider.id, 'provision', 'keyed') ? ['e2ee'] : []),
    ].join();
    return isLogin ? { ...answer, provisioning: 'required', provisioningModes } : answer;
  }

  /** Exchanges the code for a profile, and judges it by the operator's rules. */
  private async exchange(
    provider: IdentityProvider,
    flow: FlowContents,
    search: string,
  ): Promise<PendingContents> {
    // Not the Host header: the redirect URI has to be the registered one.
    const callback = new URL(flow.redirectUri);
    callback.search = search;
    const state = callback.searchParams.get('state') ?? '';
    // Before the request: a newer refusal wins.
    const checkedAt = this.clock.now();
    const { profile, ...kept } = await provider.exchange(callback, { ...flow, state });
    const verdict = this.links.judge(provider.id, profile);
    if (verdict.status === 'unknown') {
      throw new ProviderError('upstream_error', { cause: new Error(verdict.reason) });
    }
    const { subject, facts } = profile;
    const authority = this.links.authorityOf(provider.id);
    if (verdict.status === 'ineligible') {
      const refused = { provider: provider.id, subject, facts, credentials: null };
      const proof = { ...refused, checkedAt: this.clock.now() };
      await this.links.refuse(this.links.prove(proof, authority), verdict.reason);
      throw new AppError('not-eligible');
    }
    const { issuer } = authority;
    const { holder } = flow;
    return { provider: provider.id, issuer, holder, subject, facts, ...kept, checkedAt };
  }

  /** The error for the return address; details are in the log. */
  private toReturnError(error: unknown, provider: string): string {
    if (error instanceof ProviderError) {
      const isDenied = error.refusal === 'access_denied';
      const cause = error.cause instanceof Error ? error.cause.message : undefined;
      const facts = { msg: 'provider login refused', provider, refusal: error.refusal, cause };
      this.logger[isDenied ? 'debug' : 'warn'](facts);
      return isDenied ? 'access_denied' : 'upstream_error';
    }
    const { code } = toAppError(error);
    if (ERRORS[code].level !== 'debug') {
      const reason = error instanceof Error ? error.stack : undefined;
      this.logger.error({ msg: 'provider login failed', provider, code, error: reason });
    }
    return code.replaceAll('-', '_');
  }
}

function nameOf(flow: FlowContents | null): 'auth' | 'connect' {
  return flow === null || flow.holder.accountId === null ? 'auth' : 'connect';
}
