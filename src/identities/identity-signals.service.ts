import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { RefusedPeopleService } from '../audit/refused-people.service.js';
import { AppError } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';
import { providersConfig } from '../config/providers.config.js';
import type { DirectoryRules } from '../policy/eligibility/provider-rules.js';
import { judgeSignals, type SignalDecision } from '../policy/eligibility/signals.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../storage/database.service.js';
import {
  DirectoryLinkRepository,
  type MatchedLogin,
} from '../storage/repositories/directory/directory-link.repository.js';
import {
  IdentitySignalRepository,
  type SignalSubject,
} from '../storage/repositories/directory/identity-signal.repository.js';

/** Applies the signals about a person to logins. */
@Injectable()
export class IdentitySignalsService {
  constructor(
    private readonly database: DatabaseService,
    private readonly links: DirectoryLinkRepository,
    private readonly signals: IdentitySignalRepository,
    private readonly refusals: RefusedPeopleService,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
    @Inject(providersConfig.KEY) private readonly providers: ConfigType<typeof providersConfig>,
  ) {}

  /**
   * Links the person of the directory that a login matches, and judges the signals about the person.
   *
   * @param address of the browser
   * @throws AppError `not-eligible`, which is stored for the operator
   */
  async meet(login: MatchedLogin, address: string): Promise<void> {
    const rules = this.directoryOf(login.provider);
    if (rules !== null) {
      await this.database.transaction(async (tx) => {
        const isAllowed = await this.links.meet(tx, rules.match, login);
        if (isAllowed !== null) {
          const { provider, subject } = login;
          const word = { provider, subject, isAllowed, at: null };
          await this.signals.store(tx, { ...word, source: 'directory' });
        }
      });
    }
    const decision = await this.judge(login);
    if (!decision.isAllowed) {
      const { reason } = decision;
      await this.refusals.add({ ...login, address, reason }, 'login-refused');
      throw new AppError('not-eligible', { provider: login.provider });
    }
  }

  /** @throws AppError `not-eligible` */
  async require(tx: Transaction, person: SignalSubject): Promise<void> {
    const decision = await this.judge(person, tx);
    if (!decision.isAllowed) {
      throw new AppError('not-eligible', { provider: person.provider });
    }
  }

  private async judge(
    { provider, subject }: SignalSubject,
    runner?: SqlRunner,
  ): Promise<SignalDecision> {
    const found = await this.signals.find({ provider, subject }, runner);
    return judgeSignals({ provider, ...found }, this.auth.offboarding.directories);
  }

  private directoryOf(id: string): DirectoryRules | null {
    const provider = this.providers.find((one) => one.id === id);
    return provider?.type === 'oidc' ? provider.scim : null;
  }
}
