import { Injectable } from '@nestjs/common';
import { bearerTokenFrom } from '../auth/authentication.guard.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import { AppError, isUnavailable } from '../../common/errors.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { ClientAuthenticationService } from './client-authentication.service.js';
import { ClientTokenService } from './client-token.service.js';
import type { IntrospectionDto, IntrospectionForm } from './oauth.dto.js';
import { ResourceAccessService } from './resource-access.service.js';

interface Introspection {
  readonly server: ResourceServerSettings;
  readonly answer: IntrospectionDto;
}

/**
 * Answers a backend about a token. Each backend has a limit of its own, and refused callers one for
 * each address: backends often share an address, and none may use up the limit of another.
 */
@Injectable()
export class IntrospectionService {
  constructor(
    private readonly clients: ClientAuthenticationService,
    private readonly clientTokens: ClientTokenService,
    private readonly access: ResourceAccessService,
    private readonly limits: RateLimitService,
  ) {}

  /**
   * @param address of the caller
   * @throws AppError `invalid-client`, `insufficient-scope`, `rate-limited`, `unavailable`
   */
  async introspect(
    authorization: string | undefined,
    form: IntrospectionForm,
    address: string,
  ): Promise<Introspection> {
    const server = await this.limits.countRefusals(address, () =>
      this.callerOf(authorization, form),
    );
    await this.limits.count('perResourceServer', server.id);
    try {
      const claims = await this.access.authenticate(form.token, server);
      return { server, answer: { active: true, token_type: 'Bearer', ...claims } };
    } catch (error) {
      if (error instanceof AppError && !isUnavailable(error)) {
        return { server, answer: { active: false } };
      }
      throw error;
    }
  }

  /** The backend authenticates, or shows a token of its own. */
  private async callerOf(
    authorization: string | undefined,
    form: IntrospectionForm,
  ): Promise<ResourceServerSettings> {
    const token = bearerTokenFrom(authorization);
    if (token === undefined) {
      return this.clients.authenticate(authorization, form);
    }
    return this.clientTokens.authenticate(token, 'introspect').catch((error: unknown) => {
      throw error instanceof AppError && error.code === 'invalid-token'
        ? new AppError('invalid-client')
        : error;
    });
  }
}
