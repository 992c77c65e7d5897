import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditLog } from '../../audit/audit-log.js';
import { RateLimits } from '../../auth/rate-limits.js';
import { AppError } from '../../common/errors.js';
import { encryptionConfig } from '../../config/encryption.config.js';
import { newKeyedAccountMode } from '../../policy/admission/encryption.js';
import { readInvitationCode } from '../../policy/flow/invitation-code.js';
import { InvitationRepository } from '../../storage/repositories/invitation.repository.js';
import type { NewSession } from '../../storage/repositories/session.repository.js';

/** Sign-up with an invitation. */
@Injectable()
export class InvitedSignup {
  constructor(
    private readonly invitations: InvitationRepository,
    private readonly limits: RateLimits,
    private readonly audit: AuditLog,
    @Inject(encryptionConfig.KEY) private readonly encryption: ConfigType<typeof encryptionConfig>,
  ) {}

  /**
   * Makes the account of a key with its first session, by a use of the invitation.
   *
   * @param text the code as it was typed
   * @returns its id; null when another login of the same key was first, and the use is left
   * @throws AppError `invitation-invalid`, `rate-limited`
   */
  async create(text: string, publicKey: Buffer, session: NewSession): Promise<string | null> {
    const code = readInvitationCode(text);
    if (code === null) {
      throw new AppError('invitation-invalid');
    }
    // Counted before it is looked up: beyond the limit a right guess finds nothing either.
    await this.limits.count('invitationPerIp', session.address ?? '');
    await this.limits.count('invitationTotal', 'all');
    const mode = newKeyedAccountMode(this.encryption);
    const account = await this.invitations.signUp(code, publicKey, mode, session);
    if (account === null) {
      throw new AppError('invitation-invalid');
    }
    const { accountId, invitationId, inviter: actor } = account;
    if (accountId !== null) {
      const { id: sessionId, address } = session;
      this.audit.log({
        ...{ kind: 'invitation-used', actor, accountId, invitationId, sessionId },
        ...(address !== null && { address }),
      });
    }
    return accountId;
  }
}
