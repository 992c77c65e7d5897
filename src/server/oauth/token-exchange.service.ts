import { Inject, Injectable } from '@nestjs/common';
import { AccessTokenService } from '../auth/sessions/access-token.service.js';
import { AuthService } from '../auth/auth.service.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { AppError, orRefuse } from '../../common/errors.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import type { Transaction } from '../storage/database.service.js';
import {
  ResourceSessionRepository,
  type Judgement,
} from '../storage/repositories/oauth/resource-session.repository.js';
import type { TokenForm, TokenDto } from './oauth.dto.js';
import { ResourceTokenService } from './resource-token.service.js';

/** Exchanges the token of a session for one of a backend (RFC 8693). */
@Injectable()
export class TokenExchangeService {
  constructor(
    private readonly auth: AuthService,
    private readonly sessionTokens: AccessTokenService,
    private readonly limits: RateLimitService,
    private readonly sessions: ResourceSessionRepository,
    private readonly tokens: ResourceTokenService,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
  ) {}

  /**
   * Judges from storage: a replica whose cache is warm would otherwise issue a token after access
   * has ended. The first exchange stores the session at the backend in the transaction that judges.
   * Later ones find it, after they judged: an end that they did not see finds it too.
   *
   * @throws AppError `invalid-target`, `invalid-scope`, and as {@link AuthService.authenticateFor}
   */
  async exchange({ subject_token: token, resource, scope }: TokenForm): Promise<TokenDto> {
    // The token is that of the person: the client would take it for a narrower one (RFC 8693, 2.2.1).
    if (scope !== undefined) {
      throw new AppError('invalid-scope');
    }
    const server = orRefuse(
      this.servers.find((one) => one.resource === resource),
      'invalid-target',
    );
    const claims = this.sessionTokens.verify(token);
    await this.limits.countCaller(claims);
    const { accountId, sessionId } = claims;
    const key = { accountId, sessionId, resourceServer: server.id };
    const rules = this.auth.rulesOf(server);
    const judge = async (tx?: Transaction): Promise<Judgement> => {
      const { holdsUntil } = await this.auth.judgeFor(server, claims, tx);
      return { until: holdsUntil, rules };
    };
    const issued = await this.tokens.issue(
      server,
      accountId,
      async () =>
        (await this.sessions.findOpen(key, await judge())) ?? this.sessions.open(key, judge),
    );
    return {
      access_token: issued.token,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: issued.expiresIn,
    };
  }
}
