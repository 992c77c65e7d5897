import { Injectable } from '@nestjs/common';
import { SealedBox } from './sealed-box.js';

/** Seals what a re-check needs, so that it is of use for one account's identity alone. */
@Injectable()
export class IdentityCredentials {
  constructor(private readonly box: SealedBox) {}

  seal(accountId: string, provider: string, credentials: string | null): Buffer | null {
    return credentials === null
      ? null
      : this.box.seal('identity-credentials', ownerOf(accountId, provider), credentials);
  }

  /** @throws BrokenSealError when the master secret they were sealed with is gone */
  open(accountId: string, provider: string, sealed: Buffer | null): string | null {
    return sealed === null
      ? null
      : this.box.open('identity-credentials', ownerOf(accountId, provider), sealed);
  }
}

function ownerOf(accountId: string, provider: string): string {
  return `${accountId}/${provider}`;
}
