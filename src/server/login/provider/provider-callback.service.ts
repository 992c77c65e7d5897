import { Inject, Injectable, Logger } from '@nestjs/common';
import { toAppError } from '../../http/error.filter.js';
import { AppError, ERRORS } from '../../../common/errors.js';
import { oauthReturnConfig, type OAuthReturnSettings } from '../../config/browser.config.js';
import { AdmissionService } from '../../auth/admission.service.js';
import { returnAddressFor } from '../../../core/policy/flow/return-address.js';
import { loopbackCode } from '../../../core/protocol/loopback-code.js';
import { ProviderError, type IdentityProvider } from '../../providers/identity-provider.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { RateLimitService } from '../../auth/rate-limit.service.js';
import { PendingLoginsService, type FlowContents } from './pending-logins.service.js';
import { ProviderExchangeService } from './provider-exchange.service.js';
import type { LoopbackQuestion } from './loopback-page.js';
import { requireProviderLogin } from './provider-start.service.js';
import { loopbackAddress, returnLocation, type ReturnQuery } from './return-location.js';

/** The form of `state` and `pending`. */
const SECRET = /^[\w-]{43}$/;

interface CallbackAnswer {
  readonly location: string;
  /** Question to confirm before the redirect; null = redirect at once. */
  readonly question: LoopbackQuestion | null;
  readonly flow: 'auth' | 'connect';
  /** The error in the return address; null when the login continues. */
  readonly error: string | null;
  /** The error code of the provider, or what of its answer was refused; null = nothing more. */
  readonly detail: string | null;
}

/** Always answers with a redirect: the caller is a browser with a user, not a program. */
@Injectable()
export class ProviderCallbackService {
  private readonly logger = new Logger(ProviderCallbackService.name);

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly pendings: PendingLoginsService,
    private readonly exchanges: ProviderExchangeService,
    private readonly limits: RateLimitService,
    private readonly admission: AdmissionService,
    @Inject(oauthReturnConfig.KEY) private readonly oauthReturn: OAuthReturnSettings,
  ) {}

  /** @param search the query of the redirect as it arrived */
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
        flow === null
          ? { error: 'invalid_state' }
          : await this.addPending(provider, flow, search, address);
      return to(answer);
    } catch (error) {
      const detail = error instanceof ProviderError ? error.detail : null;
      const facts = error instanceof AppError ? refusedAccount(error) : {};
      return { ...to({ error: this.toReturnError(error, id), ...facts }), detail };
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
      const location = returnLocation(base, query);
      return { location, question: null, flow: name, error, detail: null };
    }
    const location = returnLocation(loopbackAddress(port, flow.provider), query);
    const provider = this.providers.displayName(flow.provider);
    const code = loopbackCode(new URLSearchParams(search).get('state') ?? '');
    const question = { provider, port, code, flow: name, error, pending, location };
    return { location, question, flow: name, error, detail: null };
  }

  /** A state is used up by its first request, at the address of any provider (mix-up attacks). */
  private async takeFlow(provider: string, search: string): Promise<FlowContents | null> {
    const [state = '', ...more] = new URLSearchParams(search).getAll('state');
    if (!SECRET.test(state) || more.length > 0) {
      return null;
    }
    const flow = await this.pendings.takeFlow(state);
    const isOff = (flow?.loopbackPort ?? null) !== null && !this.oauthReturn.loopbackEnabled;
    return flow?.provider === provider && !isOff ? flow : null;
  }

  private async addPending(
    provider: IdentityProvider,
    flow: FlowContents,
    search: string,
    address: string,
  ): Promise<Omit<ReturnQuery, 'flow'>> {
    const isLogin = flow.holder.accountId === null;
    if (isLogin) {
      requireProviderLogin(this.admission, provider.id, flow.mode);
    } else {
      this.admission.require(provider.id, 'connect', flow.mode);
    }
    const { proven, known } = await this.exchanges.prove(provider, flow, search, address);
    const pending = await this.pendings.add(proven);
    const { mode } = flow;
    const answer = { pending, mode, storagePolicy: this.admission.policy.encryption.storagePolicy };
    if (known !== null) {
      return { ...answer, accountMode: known.accountMode };
    }
    const provisioningModes = [
      ...(this.admission.allows(provider.id, 'provision', 'keyless') ? ['plain'] : []),
      ...(this.admission.allows(provider.id, 'provision', 'keyed') ? ['e2ee'] : []),
    ].join();
    return isLogin ? { ...answer, provisioning: 'required', provisioningModes } : answer;
  }

  private toReturnError(error: unknown, provider: string): string {
    if (error instanceof ProviderError) {
      const isDenied = error.refusal === 'access_denied';
      const { refusal, detail } = error;
      const cause = error.cause instanceof Error ? error.cause.message : undefined;
      const facts = { msg: 'provider login refused', provider, refusal, detail, cause };
      this.logger[isDenied ? 'debug' : 'warn'](facts);
      return isDenied ? 'access_denied' : 'upstream_error';
    }
    const { code, cause } = toAppError(error);
    // `unavailable` without a cause is an outage, which is logged once.
    if (ERRORS[code].level === 'error' || (ERRORS[code].level === 'warn' && cause !== undefined)) {
      const reason = error instanceof Error ? error.stack : undefined;
      this.logger.error({ msg: 'provider login failed', provider, code, error: reason });
    }
    return code.replaceAll('-', '_');
  }
}

/** The browser that receives it has just proven the identity of the account. */
function refusedAccount({ extras }: AppError): Pick<ReturnQuery, 'account' | 'reason'> {
  const { accountId, reason } = extras;
  return {
    ...(accountId !== undefined && { account: accountId }),
    ...(reason !== undefined && { reason }),
  };
}

function nameOf(flow: FlowContents | null): 'auth' | 'connect' {
  return flow === null || flow.holder.accountId === null ? 'auth' : 'connect';
}
