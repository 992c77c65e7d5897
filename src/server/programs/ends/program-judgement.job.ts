import { Injectable } from '@nestjs/common';
import { AuthService } from '../../auth/auth.service.js';
import { IdentityEvents } from '../../auth/identity.events.js';
import { AppError } from '../../../common/errors.js';
import { Clock } from '../../../common/runtime/clock.js';
import { IDLE_GRANT_MS } from '../../../core/policy/programs/programs.js';
import { DueJudgement, TICK_MS, type DueBatch } from '../../event-streams/due-judgement.js';
import type { Transaction } from '../../storage/database.service.js';
import {
  ProgramJudgementRepository,
  type DueGrant,
  type GrantVerdict,
} from '../../storage/repositories/programs/program-judgement.repository.js';
import { GrantChangesService } from '../grant-changes.service.js';
import { isFinal } from './final-refusal.js';
import { ProgramServersService } from '../program-servers.service.js';

/**
 * Judges grants. A definite no, an unlinked identity and 30 days without use end the grant; what may
 * pass ends its session at the backend alone, because each outage of a provider would else sign
 * every program out.
 */
@Injectable()
export class ProgramJudgementJob extends DueJudgement {
  constructor(
    private readonly due: ProgramJudgementRepository,
    private readonly changes: GrantChangesService,
    private readonly servers: ProgramServersService,
    auth: AuthService,
    events: IdentityEvents,
    clock: Clock,
  ) {
    const backends = servers.all.map(({ server }) => server);
    super(due, backends, auth, events, clock);
  }

  protected override async compareEntries(): Promise<void> {
    await this.changes.endUnaccepted((grant) => this.servers.accepts(grant));
    await this.changes.deleteExpired();
  }

  protected override async judgeBatch(batch: DueBatch): Promise<number> {
    const { judged, changed } = await this.due.judgeDue(batch, (due, tx) => this.judge(due, tx));
    changed.forEach(({ accountId, event }) => this.changes.announce(accountId, event));
    return judged;
  }

  private async judge(due: readonly DueGrant[], tx: Transaction) {
    const now = this.clock.now();
    const sessions = due.map(({ id, accountId, resourceServer, expiresAt }) => ({
      server: this.servers.find(resourceServer).server,
      session: { accountId, sessionId: id, expiresAt, isGrant: true as const },
    }));
    const verdicts = await this.auth.judgeAllFor(sessions, tx);
    const missing = due.flatMap(({ accountId }, index) => {
      const verdict = verdicts[index];
      const provider = verdict instanceof AppError ? verdict.extras.provider : undefined;
      return provider === undefined ? [] : [{ accountId, provider }];
    });
    const linked =
      missing.length === 0 ? new Set<string>() : await this.due.linkedAmong(tx, missing);
    return due.map((grant, index) => {
      const idleUntil = Math.max(grant.lastUsedAt + IDLE_GRANT_MS, now + TICK_MS);
      const server = sessions[index]?.server;
      const rules = server === undefined ? '' : this.auth.rulesOf(server);
      const verdict = verdicts[index] ?? new AppError('internal');
      return { verdict: verdictOf(grant, verdict, { rules, linked, now }), rules, idleUntil };
    });
  }
}

function verdictOf(
  { accountId, lastUsedAt, isOfChange }: DueGrant,
  verdict: AppError | { readonly holdsUntil: number },
  facts: { readonly rules: string; readonly linked: ReadonlySet<string>; readonly now: number },
): GrantVerdict {
  if (lastUsedAt + IDLE_GRANT_MS <= facts.now) {
    return { ends: 'idle' };
  }
  if (!(verdict instanceof AppError)) {
    return { until: verdict.holdsUntil, rules: facts.rules };
  }
  const { code, extras } = verdict;
  const isUnlinked = isOfChange && !facts.linked.has(`${accountId} ${extras.provider ?? ''}`);
  const ends = isFinal(verdict) || (code === 'provider-required' && isUnlinked);
  return ends ? { ends: code } : { lapses: code };
}
