import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { judgeExternalLogin } from '../../policy/external-flow.js';
import { KeylessLogin, type KeylessPerson } from '../keyless/keyless-login.service.js';
import type { LoginOrigin } from '../sessions/login-origin.js';
import type { Login } from '../sessions/session-issuer.js';
import { checkHolder } from './check-holder.js';
import { externalFlowFacts, type PendingContents } from './external-contents.js';
import type { FinalizeKeylessDto } from './external-keyless.dto.js';
import { IdentityLinks } from './identity-links.js';
import { PendingLogins } from './pending-logins.js';

/** Finishes a login through a provider without a device key. */
@Injectable()
export class ExternalKeylessService {
  constructor(
    private readonly pendings: PendingLogins,
    private readonly links: IdentityLinks,
    private readonly keyless: KeylessLogin,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Logs in to the account of the identity, making it where the provider may. The login may have
   * begun in either mode: somebody new chooses when they are back (specification, OAuth
   * provisioning choice).
   *
   * @throws AppError `invalid-pending`, `invalid-proof`, `keyless-disabled`, `e2ee-required` and
   *   what {@link KeylessLogin.admit} throws
   */
  async finish(
    provider: string,
    { pending, proof }: FinalizeKeylessDto,
    origin: LoginOrigin,
  ): Promise<Login> {
    const admitted = await this.pendings.use(provider, pending, async (query, contents) => {
      checkHolder(contents.holder, proof, null);
      const decision = judgeExternalLogin('keyless', externalFlowFacts(this.settings), provider);
      if (!decision.isAllowed) {
        throw new AppError(decision.code, { provider });
      }
      return this.keyless.admit(query, this.toPerson(contents), origin);
    });
    return this.keyless.finish(admitted);
  }

  private toPerson(contents: PendingContents): KeylessPerson {
    const { provider, subject, facts, credentials, checkedAt } = contents;
    return {
      provider,
      subject,
      authority: this.links.authorityOf(provider),
      login: facts.login,
      facts,
      credentials,
      checkedAt,
      // The rules may have changed since the provider was asked.
      eligibility: this.links.judge(provider, contents),
      autoProvision: this.settings.keyless.oauth.autoProvision,
    };
  }
}
