import { Injectable } from '@nestjs/common';
import { isUnavailable } from '../../common/errors.js';
import { Timers } from '../../common/runtime/timers.js';
import { IdentitySignalsService } from '../identities/identity-signals.service.js';
import type { SqlRunner } from '../storage/database.service.js';
import {
  IdentityDueRepository,
  type LeasedIdentity,
  type RecheckResult,
  type StoredResult,
} from '../storage/repositories/identity-due.repository.js';
import { RecheckSignalsService } from './signals/recheck-signals.service.js';

/** Another worker, or a login, has the identity: nothing was stored. */
export class LostLeaseError extends Error {}

/** Pauses between attempts to store an answer, in milliseconds. They take as long as the lease. */
const STORE_RETRIES_MS = [100, 500, 2000, ...Array<number>(28).fill(5000)];

/** Stores the results of re-checks. */
@Injectable()
export class RecheckResultsService {
  constructor(
    private readonly identities: IdentityDueRepository,
    private readonly signals: IdentitySignalsService,
    private readonly rechecks: RecheckSignalsService,
    private readonly timers: Timers,
  ) {}

  /**
   * An outage must not extend access: a lost refusal would be asked for again only after the lease.
   * @returns the stored result, and the effect of a directory's refusal that the answer brought to light; null = none
   * @throws LostLeaseError; AppError `unavailable`
   */
  async store(identity: LeasedIdentity, result: RecheckResult, now: Date, signal: AbortSignal) {
    for (const pauseMs of STORE_RETRIES_MS) {
      try {
        return await this.storeOnce(identity, result, now);
      } catch (error) {
        if (!isUnavailable(error)) {
          throw error;
        }
        await this.timers.sleep(pauseMs, signal).catch(() => undefined);
        if (signal.aborted) {
          throw error;
        }
      }
    }
    return this.storeOnce(identity, result, now);
  }

  /** Re-checks an identity again: the search for those that changed rules concern has read its former facts. */
  async makeDue({ id }: LeasedIdentity): Promise<void> {
    await this.rechecks.mark(() => this.identities.makeTheseDue([id]));
  }

  private async storeOnce(identity: LeasedIdentity, result: RecheckResult, now: Date) {
    const { provider, subject } = identity;
    const { facts } = result;
    const store = async (runner?: SqlRunner): Promise<StoredResult> => {
      const stored = await this.identities.store(identity, result, now, runner);
      if (stored === null) {
        throw new LostLeaseError();
      }
      return stored;
    };
    return facts === null
      ? ([await store(), null] as const)
      : this.signals.learn({ provider, subject, facts }, now, store);
  }
}
