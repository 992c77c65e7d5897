import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { AuthService } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { DueWork } from './due-work.js';
import { AppError, isUnavailable } from '../../common/errors.js';
import { Clock } from '../../common/runtime/clock.js';
import type { ResourceServerSettings } from '../config/resource-servers/resource-servers-file.js';
import { resourceServersConfig } from '../config/resource-servers/resource-servers.config.js';
import type { Transaction } from '../storage/database.service.js';
import {
  ResourceJudgementRepository,
  type DueResourceSession,
  type RefusedJudgement,
} from '../storage/repositories/oauth/resource-judgement.repository.js';
import type { Judgement } from '../storage/repositories/oauth/resource-session.repository.js';

const TICK_MS = 2000;
const COMPARE_RULES_EVERY_MS = 60_000;
const BATCH = 200;

/**
 * Judges sessions at backends again when an identity changed, an answer grew old or the rules
 * changed, and ends those whose exchange would now be refused. Every replica runs it: locks of rows
 * leave each session to one of them.
 */
@Injectable()
export class ResourceJudgementJob implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(ResourceJudgementJob.name);
  private readonly judging = new DueWork(() => this.judgeOnce());
  private isStopping = false;
  private compareAgainAt = 0;

  constructor(
    private readonly sessions: ResourceJudgementRepository,
    private readonly auth: AuthService,
    private readonly events: IdentityEvents,
    private readonly clock: Clock,
    @Inject(resourceServersConfig.KEY)
    private readonly servers: ConfigType<typeof resourceServersConfig>,
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

  private async judgeOnce(): Promise<void> {
    try {
      await this.compareRules();
      await this.judgeDue();
    } catch (error) {
      if (!isUnavailable(error)) {
        this.logger.error(error);
      }
    }
  }

  /** Replicas with other rules may store sessions that they judged, so this is repeated. */
  private async compareRules(): Promise<void> {
    if (this.clock.elapsed() < this.compareAgainAt) {
      return;
    }
    for (const server of this.servers) {
      const rules = this.auth.rulesOf(server);
      let isMore = true;
      while (isMore && !this.isStopping) {
        isMore = await this.sessions.markOtherRules(server.id, rules, BATCH);
      }
    }
    this.compareAgainAt = this.clock.elapsed() + COMPARE_RULES_EVERY_MS;
  }

  private async judgeDue(): Promise<void> {
    const resourceServers = this.servers.map(({ id }) => id);
    let judged = BATCH;
    while (judged === BATCH && !this.isStopping) {
      const now = new Date(this.clock.now());
      const batch = await this.sessions.judgeDue(
        { now, limit: BATCH, resourceServers },
        (due, tx) => this.judge(due, tx),
      );
      judged = batch.judged;
      // Replicas drop what they cached of these accounts, and look for the events.
      for (const accountId of new Set(batch.ended)) {
        this.events.announceAccessChange({ accountId });
      }
    }
  }

  private async judge(
    due: readonly DueResourceSession[],
    tx: Transaction,
  ): Promise<(Judgement | RefusedJudgement)[]> {
    const sessions = due.map((session) => ({ server: this.serverOf(session), session }));
    const verdicts = await this.auth.judgeAllFor(sessions, tx);
    return verdicts.map((verdict, index) => {
      const { server } = sessions[index] ?? {};
      return verdict instanceof AppError || server === undefined
        ? { code: verdict instanceof AppError ? verdict.code : 'internal' }
        : { until: verdict.holdsUntil, rules: this.auth.rulesOf(server) };
    });
  }

  private serverOf({ resourceServer }: DueResourceSession): ResourceServerSettings {
    const server = this.servers.find(({ id }) => id === resourceServer);
    if (server === undefined) {
      throw new Error('A session of an unknown backend was due.');
    }
    return server;
  }
}
