import { Injectable } from '@nestjs/common';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { orRefuse } from '../../common/errors.js';
import { ClientTokenService } from './client-token.service.js';
import { CLIENT_CREDENTIALS, EXCHANGE, type TokenDto, type TokenForm } from './oauth.dto.js';
import { TokenExchangeService } from './token-exchange.service.js';

/** The caller of the token endpoint. */
export interface TokenCaller {
  readonly authorization: string | undefined;
  readonly address: string;
}

type Grant = (form: TokenForm, caller: TokenCaller) => Promise<TokenDto>;

/** The grant types of the token endpoint. Other modules add theirs. */
@Injectable()
export class TokenAnswerService {
  private readonly grants = new Map<string, Grant>();

  constructor(
    private readonly limits: RateLimitService,
    exchanges: TokenExchangeService,
    clientTokens: ClientTokenService,
  ) {
    this.add(EXCHANGE, (form) => exchanges.exchange(form));
    this.add(CLIENT_CREDENTIALS, async (form, { authorization }) => {
      const { token, scope, expiresIn } = await clientTokens.grant(authorization, form);
      return { access_token: token, token_type: 'Bearer', expires_in: expiresIn, scope };
    });
  }

  /** Call it while the application starts. */
  add(grantType: string, grant: Grant): void {
    this.grants.set(grantType, grant);
  }

  get grantTypes(): readonly string[] {
    return [...this.grants.keys()];
  }

  /**
   * Counts requests for their address, but of backends only refusals: one that gets no token misses the
   * sessions that end, and others share its address.
   * @throws AppError `unsupported-grant-type`, `rate-limited`, and as the grant
   */
  async answer(form: TokenForm, caller: TokenCaller): Promise<TokenDto> {
    const isOfBackend = form.grant_type === CLIENT_CREDENTIALS;
    if (!isOfBackend) {
      await this.limits.count('tokenPerIp', caller.address);
    }
    const grant = orRefuse(this.grants.get(form.grant_type), 'unsupported-grant-type');
    const work = (): Promise<TokenDto> => grant(form, caller);
    return isOfBackend ? this.limits.countRefusals(caller.address, work) : work();
  }
}
