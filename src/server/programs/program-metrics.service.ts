import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Counter } from 'prom-client';
import { IdentityEvents } from '../auth/identity.events.js';
import { AppError, ERRORS } from '../../common/errors.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { ProgramGrantRepository } from '../storage/repositories/programs/program-grant.repository.js';

/** An alert watches each for an increase, so their series begin with 0. */
const WATCHED_STEPS = ['granted'];
const WATCHED_CAUSES = ['refresh-token-reused', 'code-reused'];

/** Measures grants and what changes them. Registered only where a backend accepts programs. */
@Injectable()
export class ProgramMetricsService implements OnModuleInit {
  readonly consents: Counter<'step'>;
  private readonly tokens: Counter<'grant' | 'outcome' | 'reason'>;
  private readonly ended: Counter<'cause'>;

  constructor(
    private readonly metrics: MetricsService,
    private readonly grants: ProgramGrantRepository,
    private readonly events: IdentityEvents,
  ) {
    const registers = [metrics.registry];
    this.consents = new Counter({
      name: 'gatehouse_program_consents_total',
      help: 'Requests of programs to people, by step: shown (each time), granted (files too), denied.',
      labelNames: ['step'],
      registers,
    });
    this.tokens = new Counter({
      name: 'gatehouse_program_tokens_total',
      help: 'Requests of programs for tokens, by grant (code, refresh), outcome (ok, refused, failed) and the code of a refusal or failure.',
      labelNames: ['grant', 'outcome', 'reason'],
      registers,
    });
    this.ended = new Counter({
      name: 'gatehouse_program_grants_ended_total',
      help: 'Grants of programs that ended by themselves, by cause: user, operator, or the reason of the server or a provider (such as refresh-token-reused, backchannel-logout). Those that ended with a session or an account are not counted.',
      labelNames: ['cause'],
      registers,
    });
  }

  onModuleInit(): void {
    WATCHED_STEPS.forEach((step) => this.consents.inc({ step }, 0));
    WATCHED_CAUSES.forEach((cause) => this.ended.inc({ cause }, 0));
    this.events.on('program-ended', ({ actor, reason }) =>
      this.ended.inc({ cause: causeOf(actor, reason) }),
    );
    this.metrics.observeEach(
      'gatehouse_program_grants',
      'Grants of programs that count now, by resource server and kind (code, file).',
      ['resource_server', 'kind'],
      async () => {
        const counts = await this.grants.count();
        return counts.map(({ resourceServer, kind, count }) => ({
          resource_server: resourceServer,
          kind,
          value: count,
        }));
      },
    );
  }

  /** Counts the outcome of a request for a token. */
  async countToken<Token>(
    grant: 'code' | 'refresh',
    request: () => Promise<Token>,
  ): Promise<Token> {
    try {
      const token = await request();
      this.tokens.inc({ grant, outcome: 'ok', reason: '' });
      return token;
    } catch (error) {
      const reason = error instanceof AppError ? error.code : 'internal';
      const outcome = ERRORS[reason].status >= 500 ? 'failed' : 'refused';
      this.tokens.inc({ grant, outcome, reason });
      throw error;
    }
  }
}

/** The reason of an operator is any text. */
function causeOf(actor: AuditEvent['actor'], reason: string | undefined): string {
  if (actor === 'system' || actor === 'provider') {
    return reason ?? actor;
  }
  return actor === 'user' ? 'user' : 'operator';
}
