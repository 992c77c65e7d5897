import type { AdminInvitation } from '../../../client/api/admin-client.js';

export type InvitationState = 'open' | 'used-up' | 'expired' | 'revoked';

/**
 * Whether accounts are created with an invitation, or why not. Expired ones are listed for a minute.
 *
 * @param now Unix milliseconds
 */
export function stateOf(
  { uses, used, expiresAt, revokedAt }: AdminInvitation,
  now: number,
): InvitationState {
  if (revokedAt !== null) {
    return 'revoked';
  }
  if (used >= uses) {
    return 'used-up';
  }
  return expiresAt <= now ? 'expired' : 'open';
}
