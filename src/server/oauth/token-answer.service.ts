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
    limits: RateLimitService,
    exchanges: TokenExchangeService,
    clientTokens: ClientTokenService,
  ) {
    this.add(EXCHANGE, (form) => exchanges.exchange(form));
    this.add(CLIENT_CREDENTIALS, async (form, { authorization, address }) => {
      const { token, scope, expiresIn } = await limits.countRefusals(address, () =>
        clientTokens.grant(authorization, form),
      );
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

  /** @throws AppError `unsupported-grant-type`, and as the grant */
  async answer(form: TokenForm, caller: TokenCaller): Promise<TokenDto> {
    const grant = orRefuse(this.grants.get(form.grant_type), 'unsupported-grant-type');
    return grant(form, caller);
  }
}
