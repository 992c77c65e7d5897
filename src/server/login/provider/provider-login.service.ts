import { Injectable } from '@nestjs/common';
import { AppError } from '../../../common/errors.js';
import { AdmissionService } from '../../auth/admission.service.js';
import { DeviceKeyService } from '../device-key/device-key.service.js';
import { KeyedSignupService } from '../device-key/keyed-signup.service.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import { SessionIssuerService, type Login } from '../../auth/sessions/session-issuer.service.js';
import { IdentityLinksService } from '../../identities/identity-links.service.js';
import { holdCaller, type CallingSession } from '../../storage/account-row.js';
import { checkFlowOwner, PendingLoginsService } from './pending-logins.service.js';
import type { FinalizeDto } from './provider-login.dto.js';

/** Finishes a flow through a provider: a login with a device key, or a link. */
@Injectable()
export class ProviderLoginService {
  constructor(
    private readonly pendings: PendingLoginsService,
    private readonly deviceKeys: DeviceKeyService,
    private readonly signups: KeyedSignupService,
    private readonly links: IdentityLinksService,
    private readonly issuer: SessionIssuerService,
    private readonly admission: AdmissionService,
  ) {}

  async finish(provider: string, body: FinalizeDto, origin: LoginOrigin): Promise<Login> {
    this.admission.require('key_challenge', 'login', 'keyed');
    const publicKey = await this.deviceKeys.verify(body);
    const { account, session, created, change } = await this.pendings.use(
      provider,
      body.pending,
      async (tx, pending) => {
        checkFlowOwner(pending.holder, body.proof, publicKey);
        const session = this.issuer.prepare(provider, origin, pending);
        const signUp = async (): Promise<string | null> => {
          if (body.create === false) {
            throw new AppError('not-found');
          }
          this.admission.require(provider, 'provision', 'keyed');
          return this.signups.create(publicKey, session, tx);
        };
        const login = await this.deviceKeys.begin(publicKey, session, signUp, tx);
        if (login.account.isDisabled) {
          throw new AppError('account-disabled', { accountId: login.account.id });
        }
        const change = await this.links.link(tx, login.account.id, pending);
        return { ...login, session, change };
      },
    );
    this.links.announce(account.id, change);
    return this.issuer.answer(account, session, created);
  }

  /** @throws AppError `token-revoked` when the session has ended */
  async connect(caller: CallingSession, provider: string, pending: string): Promise<void> {
    const { accountId } = caller;
    const change = await this.pendings.use(provider, pending, async (tx, contents) => {
      if (contents.holder.accountId !== accountId) {
        throw new AppError('invalid-pending');
      }
      const linked = await this.links.link(tx, accountId, contents);
      await holdCaller(tx, caller);
      return linked;
    });
    this.links.announce(accountId, change);
  }
}
