import type { AdminInvitation } from '../../../../packages/client/api/admin-client.js';

export type InvitationState = 'open' | 'used-up' | 'expired' | 'revoked';

/** @param now Unix milliseconds */
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
