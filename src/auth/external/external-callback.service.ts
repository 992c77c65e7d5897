import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { toAppError } from '../../common/error.filter.js';
import { AppError, ERRORS } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { judgeExternalLogin, provisioningModes } from '../../policy/external-flow.js';
import { isOfAuthority } from '../../policy/identity-issuer.js';
import { loopbackCode } from '../../policy/loopback-code.js';
import { ProviderError, type IdentityProvider } from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { ExternalFlowRepository } from '../../storage/external-flow.repository.js';
import { IdentityRepository } from '../../storage/identity.repository.js';
import { RateLimits } from '../rate-limits.js';
import {
  externalFlowFacts,
  LIFETIME_MS,
  type FlowContents,
  type PendingContents,
} from './external-contents.js';
import { IdentityLinks } from './identity-links.js';
import { LinkEffects } from './link-effects.js';
import type { LoopbackQuestion } from './loopback-page.js';
import {
  loopbackAddress,
  returnAddressOf,
  returnLocation,
  type ReturnQuery,
} from './return-location.js';

/** What this server hands out as `state` and `pending`. */
const SECRET = /^[\w-]{43}$/;
const SECRET_BYTES = 32;

/** Where the browser goes from the callback. */
export interface CallbackAnswer {
  readonly location: string;
  /** To ask before it goes there; null = it goes at once. */
  readonly question: LoopbackQuestion | null;
  readonly flow: 'auth' | 'connect';
  /** As the return address names it; null when the login goes on. */
  readonly error: string | null;
}

/**
 * What happens when the browser comes back from a provider. The answer is always an address of the
 * client: a person stands there, not a program.
 */
@Injectable()
export class ExternalCallbackService {
  private readonly logger = new Logger(ExternalCallbackService.name);

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly flows: ExternalFlowRepository,
    private readonly identities: IdentityRepository,
    private readonly links: IdentityLinks,
    private readonly effects: LinkEffects,
    private readonly limits: RateLimits,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @param search the query of the redirect as it arrived
   * @param address where the browser is, for the login limit
   * @returns where the browser goes, and what to ask before
   * @throws AppError `unsupported-provider`, `oauth-not-configured`: there is nowhere to send it
   */
  async complete(id: string, search: string, address: string): Promise<CallbackAnswer> {
    const provider = this.providers.get(id);
    const base = provider === undefined ? null : returnAddressOf(this.settings, id);
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
    const { displayName: provider = flow.provider } =
      this.settings.providers.find(({ id }) => id === flow.provider) ?? {};
    const code = loopbackCode(new URLSearchParams(search).get('state') ?? '');
    const question = { provider, port, code, flow: name, error, pending, location };
    return { location, question, flow: name, error };
  }

  /** A state is used up by whoever shows it, at whichever provider's address: a mix-up ends it. */
  private async takeFlow(provider: string, search: string): Promise<FlowContents | null> {
    const [state = '', ...more] = new URLSearchParams(search).getAll('state');
    if (!SECRET.test(state) || more.length > 0) {
      return null;
    }
    const now = new Date(this.clock.now());
    const flow = await this.flows.take<FlowContents>('external-flow', state, now);
    const isOff =
      (flow?.loopbackPort ?? null) !== null && !this.settings.auth.loopbackReturnEnabled;
    return flow?.provider === provider && !isOff ? flow : null;
  }

  private async prove(
    provider: IdentityProvider,
    flow: FlowContents,
    search: string,
  ): Promise<Omit<ReturnQuery, 'flow'>> {
    const facts = externalFlowFacts(this.settings);
    const isLogin = flow.holder.accountId === null;
    const decision = judgeExternalLogin(flow.mode, facts, provider.id);
    if (isLogin && !decision.isAllowed) {
      throw new AppError(decision.code);
    }
    const proven = await this.exchange(provider, flow, search);
    const known = await this.identities.find(provider.id, proven.subject);
    if (known !== null && !isOfAuthority(known.issuer, this.links.authorityOf(provider.id))) {
      throw this.effects.refuseForeign(provider.id, known.issuer);
    }
    const pending = randomBytes(SECRET_BYTES).toString('base64url');
    const expiresAt = new Date(this.clock.now() + LIFETIME_MS);
    await this.flows.add('external-pending', pending, proven, expiresAt);
    const { mode } = flow;
    const answer = { pending, mode, storagePolicy: facts.storagePolicy };
    if (known !== null) {
      return { ...answer, accountMode: known.accountMode };
    }
    const modes = provisioningModes(facts, provider.id).join();
    return isLogin ? { ...answer, provisioning: 'required', provisioningModes: modes } : answer;
  }

  /** Asks the provider who is there, and its rules whether they may be. */
  private async exchange(
    provider: IdentityProvider,
    flow: FlowContents,
    search: string,
  ): Promise<PendingContents> {
    // Not what the Host header says: the redirect address has to be the registered one.
    const callback = new URL(flow.redirectUri);
    callback.search = search;
    const state = callback.searchParams.get('state') ?? '';
    // The provider looked some time after this: a no that is newer wins.
    const checkedAt = this.clock.now();
    const { profile, credentials } = await provider.exchange(callback, { ...flow, state });
    const verdict = this.links.judge(provider.id, profile);
    if (verdict.status === 'unknown') {
      throw new ProviderError('upstream_error', { cause: new Error(verdict.reason) });
    }
    const { subject, facts } = profile;
    if (verdict.status === 'ineligible') {
      await this.links.refuse({ provider: provider.id, subject, facts }, verdict.reason);
      throw new AppError('not-eligible');
    }
    const { issuer } = this.links.authorityOf(provider.id);
    const { holder } = flow;
    return { provider: provider.id, issuer, holder, subject, facts, credentials, checkedAt };
  }

  /** The word the client is told; what happened is in the log. */
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
