import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { judgeExternalSignup } from '../../policy/external-flow.js';
import { DeviceKeyService } from '../device-key/device-key.service.js';
import type { LoginOrigin } from '../sessions/login-origin.js';
import { SessionIssuer, type Login } from '../sessions/session-issuer.js';
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
    private readonly links: IdentityLinks,
    private readonly effects: LinkEffects,
    private readonly issuer: SessionIssuer,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Logs the key's account in with the identity linked, making the account where the provider may.
   *
   * @throws AppError `invalid-pending`, `invalid-proof`, `signup-provider-disabled`,
   *   `account-disabled`, what {@link DeviceKeyService.prove} and {@link IdentityLinks.link} throw
   */
  async finish(provider: string, body: FinalizeDto, origin: LoginOrigin): Promise<Login> {
    const publicKey = await this.deviceKeys.prove(body);
    const session = this.issuer.prepare(provider, origin);
    const { account, created, change } = await this.pendings.use(
      provider,
      body.pending,
      async (query, pending) => {
        checkHolder(pending.holder, body.proof, publicKey);
        const checkSignup = (): void => this.checkSignup(provider);
        const begun = await this.deviceKeys.begin(publicKey, session, checkSignup, query);
        if (begun.account.isDisabled) {
          throw new AppError('account-disabled');
        }
        return { ...begun, change: await this.links.link(query, begun.account.id, pending) };
      },
    );
    this.effects.announceLink(account.id, change);
    return this.issuer.answer(account, session, created);
  }

  private checkSignup(provider: string): void {
    const decision = judgeExternalSignup(externalFlowFacts(this.settings), provider);
    if (!decision.isAllowed) {
      throw new AppError(decision.code, { provider });
    }
  }
}
