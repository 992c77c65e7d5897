import { Injectable } from '@nestjs/common';

/** What logging in, linking and unlinking change for an account's clients. */
export interface AccountUpdate {
  readonly t: 'identities-changed';
}

type Listener = (accountId: string, seq: number, update: AccountUpdate) => void;

/** Carries news about an account to whoever tells its clients. */
@Injectable()
export class AccountUpdates {
  private readonly listeners: Listener[] = [];

  onAnnounce(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** @param seq taken in the transaction that made the change */
  announce(accountId: string, seq: number, update: AccountUpdate): void {
    for (const listen of this.listeners) {
      listen(accountId, seq, update);
    }
  }
}
