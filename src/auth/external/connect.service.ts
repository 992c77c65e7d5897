import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import { IdentityLinks } from './identity-links.js';
import { LinkEffects } from './link-effects.js';
import { PendingLogins } from './pending-logins.js';

/** Finishes linking an identity to the account that asked for it. */
@Injectable()
export class ConnectService {
  constructor(
    private readonly pendings: PendingLogins,
    private readonly links: IdentityLinks,
    private readonly effects: LinkEffects,
  ) {}

  /** @throws AppError `invalid-pending`, and what {@link IdentityLinks.link} throws */
  async finish(accountId: string, provider: string, pending: string): Promise<void> {
    const change = await this.pendings.use(provider, pending, (query, contents) => {
      if (contents.holder.accountId !== accountId) {
        throw new AppError('invalid-pending');
      }
      return this.links.link(query, accountId, contents);
    });
    this.effects.announceLink(accountId, change);
  }
}
