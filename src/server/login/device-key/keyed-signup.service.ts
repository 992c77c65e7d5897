import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service.js';
import { AdmissionService } from '../../auth/admission.service.js';
import { AppError, orRefuse } from '../../../common/errors.js';
import { encryptionConfig, type EncryptionSettings } from '../../config/encryption.config.js';
import { INVITATION } from '../../../core/policy/admission/admission.js';
import { newKeyedAccountMode } from '../../../core/policy/admission/encryption.js';
import { readInvitationCode } from '../../../core/protocol/invitation-code.js';
import type { Transaction } from '../../storage/database.service.js';
import { AccountRepository } from '../../storage/repositories/account.repository.js';
import { InvitationRepository } from '../../storage/repositories/invitation.repository.js';
import type { NewSession } from '../../storage/repositories/session.repository.js';
import type { DeviceKeyLoginDto } from './device-key.dto.js';

/** Makes the accounts of device keys: where anyone may sign up, or by an invitation. */
@Injectable()
export class KeyedSignupService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly invitations: InvitationRepository,
    private readonly admission: AdmissionService,
    private readonly audit: AuditService,
    @Inject(encryptionConfig.KEY) private readonly encryption: EncryptionSettings,
  ) {}

  /**
   * Makes the account of a new key with its first session, where policy or invitation permit it.
   * @returns null when another login of the same key was first
   * @throws AppError `not-found` where `create` is false, `signup-disabled`, `invitation-invalid`
   */
  async signUp(
    { create, invitation }: DeviceKeyLoginDto,
    publicKey: Buffer,
    session: NewSession,
  ): Promise<string | null> {
    if (create === false) {
      throw new AppError('not-found');
    }
    const isInvited = typeof invitation === 'string' && invitation !== '';
    if (isInvited && this.admission.allows(INVITATION, 'provision', 'keyed')) {
      return this.useInvitation(invitation, publicKey, session);
    }
    this.admission.require('key_challenge', 'provision', 'keyed');
    return this.create(publicKey, session);
  }

  /** @returns the account's id; null when another login of the same key was first */
  create(publicKey: Buffer, session: NewSession, tx?: Transaction): Promise<string | null> {
    const mode = newKeyedAccountMode(this.encryption);
    return this.accounts.createKeyed(publicKey, mode, session, tx);
  }

  /**
   * @returns null when another login of the same key was first, and the use is left
   * @throws AppError `invitation-invalid`
   */
  private async useInvitation(
    text: string,
    publicKey: Buffer,
    session: NewSession,
  ): Promise<string | null> {
    const code = orRefuse(readInvitationCode(text), 'invitation-invalid');
    const mode = newKeyedAccountMode(this.encryption);
    const account = orRefuse(
      await this.invitations.signUp(code, publicKey, mode, session),
      'invitation-invalid',
    );
    const { accountId, invitationId, inviter: actor } = account;
    if (accountId !== null) {
      const { id: sessionId, address } = session;
      this.audit.log({
        kind: 'invitation-used',
        actor,
        accountId,
        invitationId,
        sessionId,
        ...(address !== null && { address }),
      });
    }
    return accountId;
  }
}
