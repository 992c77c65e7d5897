import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { IdentityEvents } from '../auth/identity.events.js';
import { Clock } from '../../common/runtime/clock.js';
import { isUnavailable } from '../../common/errors.js';
import { IdentityDueRepository } from '../storage/repositories/identity-due.repository.js';
import type { ProviderQueue } from './provider-queue.js';
import { RecheckQueuesService } from './recheck-queues.service.js';

const TICK_MS = 2000;
const ADOPT_EVERY_MS = 10_000;

/** Every replica runs it: leases prevent double checks, so no leader is needed. */
@Injectable()
export class OffboardingJob implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(OffboardingJob.name);
  private readonly stopping = new AbortController();
  private queues: ReadonlyMap<string, ProviderQueue> = new Map();
  private adopting: Promise<void> | null = null;
  private adoptAgainAt = 0;

  constructor(
    private readonly recheckQueues: RecheckQueuesService,
    private readonly identities: IdentityDueRepository,
    private readonly events: IdentityEvents,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.queues = this.recheckQueues.create(TICK_MS, this.stopping.signal);
    if (this.queues.size > 0) {
      this.events.on('identities-due', () => void this.runOnce());
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.runOnce();
  }

  /** The queues limit overlapping runs. */
  @Interval(TICK_MS)
  async runOnce(): Promise<void> {
    if (this.queues.size === 0) {
      return;
    }
    try {
      this.adopting ??= this.adopt().finally(() => (this.adopting = null));
      await this.adopting;
    } catch (error) {
      this.logFailure(error);
      return;
    }
    const drained = await Promise.allSettled([...this.queues.values()].map((one) => one.drain()));
    for (const end of drained) {
      if (end.status === 'rejected') {
        this.logFailure(end.reason);
      }
    }
  }

  /**
   * Identities that were linked while offboarding was disabled have no check time. During a
   * rollout, replicas with the old setting continue to link such identities.
   */
  private async adopt(): Promise<void> {
    while (this.clock.elapsed() >= this.adoptAgainAt && !this.stopping.signal.aborted) {
      if (!(await this.identities.adopt([...this.queues.keys()]))) {
        this.adoptAgainAt = this.clock.elapsed() + ADOPT_EVERY_MS;
      }
    }
  }

  private logFailure(error: unknown): void {
    if (isUnavailable(error)) {
      this.logger.debug('Storage is unavailable: identities are checked when it is back.');
    } else {
      this.logger.error(error);
    }
  }
}
