import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { judgeSignup } from '../../policy/signup.js';
import { AccountRepository, type AccountForLogin } from '../../storage/account.repository.js';
import { decodePublicKey } from './device-key.service.js';

/** A login request whose account the sign-up policy has looked up. */
export interface JudgedLoginRequest extends FastifyRequest {
  knownAccount?: AccountForLogin;
}

/**
 * Refuses new device keys where anonymous sign-up is off, before any signature is verified. Where
 * it is on there is nothing to ask.
 */
@Injectable()
export class SignupPolicyGuard implements CanActivate {
  constructor(
    private readonly accounts: AccountRepository,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { anonymousSignupEnabled, keyChallengeEnabled } = this.settings.auth;
    if (!keyChallengeEnabled) {
      throw new AppError('key-challenge-disabled');
    }
    if (anonymousSignupEnabled) {
      return true;
    }
    const request = context.switchToHttp().getRequest<JudgedLoginRequest>();
    const publicKey = publicKeyOf(request.body);
    if (publicKey === null) {
      // The pipe says what is wrong with such a body.
      return true;
    }
    const account = await this.accounts.findByPublicKey(decodePublicKey(publicKey));
    const decision = judgeSignup({ anonymousSignupEnabled, accountExists: account !== null });
    if (!decision.allowed) {
      throw new AppError(decision.code);
    }
    request.knownAccount = account ?? undefined;
    return true;
  }
}

function publicKeyOf(body: unknown): string | null {
  const key: unknown = (body as { publicKey?: unknown } | null | undefined)?.publicKey;
  return typeof key === 'string' ? key : null;
}
