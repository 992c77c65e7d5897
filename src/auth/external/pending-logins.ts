import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { ProviderRegistry } from '../../providers/provider-registry.js';
import { Database, type Query } from '../../storage/database.js';
import { ExternalFlowRepository } from '../../storage/external-flow.repository.js';
import type { PendingContents } from './external-contents.js';

/** Identities that were proven and wait for their client. */
@Injectable()
export class PendingLogins {
  constructor(
    private readonly database: Database,
    private readonly flows: ExternalFlowRepository,
    private readonly providers: ProviderRegistry,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes a pending login in the transaction that uses it: of any number of calls one succeeds, and
   * whoever is refused, or fails for a while, has not used it up.
   *
   * @throws AppError `invalid-pending`, `unsupported-provider` when the provider is not configured
   *   any more, and whatever `work` throws
   */
  use<Result>(
    provider: string,
    pending: string,
    work: (query: Query, contents: PendingContents) => Promise<Result>,
  ): Promise<Result> {
    const issuer = this.providers.authority(provider)?.issuer;
    if (issuer === undefined) {
      return Promise.reject(new AppError('unsupported-provider'));
    }
    return this.database.transaction(async (query) => {
      const now = new Date(this.clock.now());
      const contents = await this.flows.take<PendingContents>(
        'external-pending',
        pending,
        now,
        query,
      );
      // The subject was named by the issuer of that moment, which may not be the configured one now.
      if (contents?.provider !== provider || (contents.issuer ?? issuer) !== issuer) {
        throw new AppError('invalid-pending');
      }
      return work(query, contents);
    });
  }

  /** Gives one up, known or not. */
  drop(pending: string): Promise<void> {
    return this.flows.drop(pending);
  }
}
