import { Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { AuthService } from '../auth/auth.service.js';
import type { IdentityEvents } from '../auth/identity.events.js';
import { logUnlessUnavailable } from '../../common/errors.js';
import type { Clock } from '../../common/runtime/clock.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { DueWork } from './due-work.js';

export const TICK_MS = 2000;
const COMPARE_EVERY_MS = 60_000;
const BATCH = 200;

export interface DueBatch {
  readonly now: Date;
  readonly limit: number;
  readonly resourceServers: string[];
}

/** The rows that a job judges. */
interface JudgedRows {
  /** @returns true if the batch was full, so that more rows may be left */
  markOtherRules(resourceServer: string, rules: string, limit: number): Promise<boolean>;
}

/**
 * Judges again the access that backends were given, when an identity changed, an answer grew old or
 * the rules changed. Every replica runs it: locks of rows leave each row to one of them.
 */
export abstract class DueJudgement implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(this.constructor.name);
  private readonly judging = new DueWork(() => this.judgeOnce());
  private isStopping = false;
  private compareAgainAt = 0;

  constructor(
    private readonly rows: JudgedRows,
    private readonly backends: readonly ResourceServerSettings[],
    protected readonly auth: AuthService,
    protected readonly events: IdentityEvents,
    protected readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.events.on('access-changed', ({ sessionId }) => {
      // The end of one session makes no other one due.
      if (sessionId === undefined) {
        void this.run();
      }
    });
    this.events.on('access-changes-missed', () => void this.run());
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.judging.settled();
  }

  /** Starts a run. A call during one causes another. Never rejects. */
  @Interval(TICK_MS)
  run(): Promise<void> {
    return this.judging.run();
  }

  /** @returns the number of rows that were judged */
  protected abstract judgeBatch(batch: DueBatch): Promise<number>;

  /** Runs before the rules are compared, as often. */
  protected async compareEntries(): Promise<void> {
    // Without configuration of its own, a job compares the rules alone.
  }

  private judgeOnce(): Promise<void> {
    return logUnlessUnavailable(this.logger, async () => {
      await this.compareRules();
      const resourceServers = this.backends.map(({ id }) => id);
      let judged = BATCH;
      while (judged === BATCH && !this.isStopping) {
        const now = new Date(this.clock.now());
        judged = await this.judgeBatch({ now, limit: BATCH, resourceServers });
      }
    });
  }

  /** Replicas with other rules may store rows that they judged, so this is repeated. */
  private async compareRules(): Promise<void> {
    if (this.clock.elapsed() < this.compareAgainAt) {
      return;
    }
    await this.compareEntries();
    for (const server of this.backends) {
      const rules = this.auth.rulesOf(server);
      let isMore = true;
      while (isMore && !this.isStopping) {
        isMore = await this.rows.markOtherRules(server.id, rules, BATCH);
      }
    }
    this.compareAgainAt = this.clock.elapsed() + COMPARE_EVERY_MS;
  }
}
