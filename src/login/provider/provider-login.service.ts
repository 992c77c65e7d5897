import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { Admission } from '../../auth/admission.js';
import { DeviceKeyService } from '../device-key/device-key.service.js';
import { KeylessLogin } from '../keyless/keyless-login.service.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import { SessionIssuer, type Login } from '../../auth/sessions/session-issuer.js';
import { IdentityLinks } from '../../identities/identity-links.js';
import { IdentityChanges } from '../../identities/identity-changes.js';
import { checkFlowOwner, PendingLogins } from './pending-logins.js';
import type { FinalizeDto, FinalizeKeylessDto } from './provider-login.dto.js';

/** Finishes what began at a provider: a login with or without a device key, or a link. */
@Injectable()
export class ProviderLoginService {
  constructor(
    private readonly pendings: PendingLogins,
    private readonly deviceKeys: DeviceKeyService,
    private readonly keylessLogins: KeylessLogin,
    private readonly links: IdentityLinks,
    private readonly changes: IdentityChanges,
    private readonly issuer: SessionIssuer,
    private readonly admission: Admission,
  ) {}

  /**
   * Logs in the account of the key and links the identity; creates the account where allowed.
   *
   * @throws AppError `key-challenge-disabled`, `invalid-pending`, `invalid-proof`,
   *   `signup-provider-disabled`, `not-found` where `create` is false, `account-disabled`, what
   *   {@link DeviceKeyService.prove} and {@link IdentityLinks.link} throw
   */
  async finish(provider: string, body: FinalizeDto, origin: LoginOrigin): Promise<Login> {
    this.admission.require('key_challenge', 'login', 'keyed');
    const publicKey = await this.deviceKeys.prove(body);
    const { account, session, created, change } = await this.pendings.use(
      provider,
      body.pending,
      async (query, pending) => {
        checkFlowOwner(pending.holder, body.proof, publicKey);
        const session = this.issuer.prepare(provider, origin, pending.providerSession);
        const signUp = async (): Promise<string | null> => {
          if (body.create === false) {
            throw new AppError('not-found');
          }
          this.admission.require(provider, 'provision', 'keyed');
          return this.deviceKeys.create(publicKey, session, query);
        };
        const begun = await this.deviceKeys.begin(publicKey, session, signUp, query);
        if (begun.account.isDisabled) {
          throw new AppError('account-disabled');
        }
        const change = await this.links.link(query, begun.account.id, pending);
        return { ...begun, session, change };
      },
    );
    this.changes.announceLink(account.id, change);
    return this.issuer.answer(account, session, created);
  }

  /**
   * Logs in to the account of the identity, creating it where allowed. The login may have begun in
   * either mode: a new user chooses after the callback (specification, OAuth provisioning choice).
   *
   * @throws AppError `invalid-pending`, `invalid-proof`, `keyless-disabled`, `e2ee-required` and
   *   what {@link KeylessLogin.admit} throws
   */
  async finishKeyless(
    provider: string,
    { pending, proof }: FinalizeKeylessDto,
    origin: LoginOrigin,
  ): Promise<Login> {
    const admitted = await this.pendings.use(provider, pending, async (query, contents) => {
      checkFlowOwner(contents.holder, proof, null);
      const identity = {
        ...contents,
        login: contents.facts.login,
        authority: this.links.authorityOf(provider),
        // The rules may have changed since the provider was asked.
        eligibility: this.links.judge(provider, contents),
      };
      return this.keylessLogins.admit(query, identity, origin);
    });
    return this.keylessLogins.finish(admitted);
  }

  /** @throws AppError `invalid-pending`, and what {@link IdentityLinks.link} throws */
  async connect(accountId: string, provider: string, pending: string): Promise<void> {
    const change = await this.pendings.use(provider, pending, (query, contents) => {
      if (contents.holder.accountId !== accountId) {
        throw new AppError('invalid-pending');
      }
      return this.links.link(query, accountId, contents);
    });
    this.changes.announceLink(accountId, change);
  }
}
