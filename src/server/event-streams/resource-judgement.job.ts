import { Inject, Injectable } from '@nestjs/common';
import { AuthService } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { AppError } from '../../common/errors.js';
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
import { DueJudgement, type DueBatch } from './due-judgement.js';

/** Ends the sessions at backends whose exchange would now be refused. */
@Injectable()
export class ResourceJudgementJob extends DueJudgement {
  constructor(
    private readonly sessions: ResourceJudgementRepository,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
    auth: AuthService,
    events: IdentityEvents,
    clock: Clock,
  ) {
    super(sessions, servers, auth, events, clock);
  }

  protected override async judgeBatch(batch: DueBatch): Promise<number> {
    const { judged, ended } = await this.sessions.judgeDue(batch, (due, tx) => this.judge(due, tx));
    // Replicas drop what they cached of these accounts, and look for the events.
    for (const accountId of new Set(ended)) {
      this.events.announceAccessChange({ accountId });
    }
    return judged;
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
