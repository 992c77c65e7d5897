import { Injectable } from '@nestjs/common';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import type { Login } from '../../auth/sessions/session-issuer.service.js';
import { IdentityProofService } from '../../identities/identity-proof.service.js';
import { KeylessLoginService } from '../keyless/keyless-login.service.js';
import { checkFlowOwner, PendingLoginsService } from './pending-logins.service.js';
import type { FinalizeKeylessDto } from './provider-login.dto.js';

@Injectable()
export class ProviderKeylessService {
  constructor(
    private readonly pendings: PendingLoginsService,
    private readonly logins: KeylessLoginService,
    private readonly proofs: IdentityProofService,
  ) {}

  /**
   * Signs in to the account of the identity, creating it where allowed. The login may have begun in
   * either mode: a new user chooses after the callback.
   * @throws AppError `invalid-pending`, `invalid-proof`, `keyless-disabled`, `e2ee-required` and
   * what {@link KeylessLoginService.startSession} throws
   */
  async finish(
    provider: string,
    { pending, proof }: FinalizeKeylessDto,
    origin: LoginOrigin,
  ): Promise<Login> {
    const login = await this.pendings.use(provider, pending, async (tx, contents) => {
      checkFlowOwner(contents.holder, proof, null);
      const identity = {
        ...contents,
        login: contents.facts.login,
        authority: this.proofs.authorityOf(provider),
        authenticatedAt: contents.checkedAt,
        // The rules may have changed since the provider was asked.
        eligibility: this.proofs.judge(provider, contents),
      };
      return this.logins.startSession(tx, identity, origin);
    });
    return this.logins.finish(login);
  }
}
