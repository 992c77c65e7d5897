import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { judgeExternalSignup } from '../../policy/external-flow.js';
import { AccountRepository, type AccountForLogin } from '../../storage/account.repository.js';
import type { Query } from '../../storage/database.js';
import { AccountAccess, type Login } from '../account-access.js';
import { DeviceKeyService } from '../device-key/device-key.service.js';
import { checkHolder } from './check-holder.js';
import { externalFlowFacts } from './external-contents.js';
import type { FinalizeDto } from './external.dto.js';
import { IdentityLinks } from './identity-links.js';
import { LinkEffects } from './link-effects.js';
import { PendingLogins } from './pending-logins.js';

/** Finishes a login through a provider with a device key. */
@Injectable()
export class ExternalLoginService {
  constructor(
    private readonly pendings: PendingLogins,
    private readonly deviceKeys: DeviceKeyService,
    private readonly accounts: AccountRepository,
    private readonly links: IdentityLinks,
    private readonly effects: LinkEffects,
    private readonly access: AccountAccess,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Logs the key's account in with the identity linked, making the account where the provider may.
   *
   * @throws AppError `invalid-pending`, `invalid-proof`, `signup-provider-disabled`,
   *   `account-disabled`, what {@link DeviceKeyService.prove} and {@link IdentityLinks.link} throw
   */
  async finish(provider: string, body: FinalizeDto): Promise<Login> {
    const publicKey = await this.deviceKeys.prove(body);
    const { account, created, change } = await this.pendings.use(
      provider,
      body.pending,
      async (query, pending) => {
        checkHolder(pending.holder, body.proof, publicKey);
        const found = await this.accountOf(publicKey, provider, query);
        if (found.account.isDisabled) {
          throw new AppError('account-disabled');
        }
        return { ...found, change: await this.links.link(query, found.account.id, pending) };
      },
    );
    this.effects.announceLink(account.id, change);
    return this.access.logIn(account, created);
  }

  private async accountOf(
    publicKey: Buffer,
    provider: string,
    query: Query,
  ): Promise<{ readonly account: AccountForLogin; readonly created: boolean }> {
    const account = await this.accounts.findByPublicKey(publicKey, query);
    if (account !== null) {
      return { account, created: false };
    }
    const decision = judgeExternalSignup(externalFlowFacts(this.settings), provider);
    if (!decision.isAllowed) {
      throw new AppError(decision.code, { provider });
    }
    return this.deviceKeys.signUp(publicKey, query);
  }
}
