import { Injectable } from '@nestjs/common';
import { SealedBoxService } from './sealed-box.service.js';

/** Seals the tokens for a re-check, bound to one account's identity at one provider. */
@Injectable()
export class IdentityCredentialsService {
  constructor(private readonly box: SealedBoxService) {}

  seal(accountId: string, provider: string, credentials: string | null): Buffer | null {
    return credentials === null
      ? null
      : this.box.seal('identity-credentials', `${accountId}/${provider}`, credentials);
  }

  /** @throws BrokenSealError when the master secret that sealed them is missing */
  open(accountId: string, provider: string, sealed: Buffer | null): string | null {
    return sealed === null
      ? null
      : this.box.open('identity-credentials', `${accountId}/${provider}`, sealed);
  }
}
