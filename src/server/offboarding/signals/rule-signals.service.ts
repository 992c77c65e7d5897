import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { isUnavailable, logUnlessUnavailable } from '../../../common/errors.js';
import { OperatorRulesService, type RuledSettings } from '../../config/operator-rules.service.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import { judgeRecord } from '../../../core/policy/certificate/certificate-record.js';
import {
  judgeEligibility,
  type EligibilityStatus,
} from '../../../core/policy/eligibility/eligibility.js';
import { isConcerned, losesAccess } from '../../../core/policy/eligibility/offboarding.js';
import { capabilitiesOf, isRestricted } from '../../../core/policy/eligibility/provider-rules.js';
import {
  IdentityDueRepository,
  type AnsweredIdentity,
} from '../../storage/repositories/identity-due.repository.js';
import { RecheckSignalsService } from './recheck-signals.service.js';

const BATCH = 500;

type Judge = (identity: AnsweredIdentity) => EligibilityStatus | null;
type IsMarked = (identity: AnsweredIdentity) => boolean;

/**
 * Every replica marks identities by the rules that it has read, because one with the former rules
 * may have checked the identity in between.
 */
@Injectable()
export class RuleSignalsService implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger('ProviderSignals');
  /** Changes are processed one after the other. */
  private working = Promise.resolve();

  constructor(
    private readonly rules: OperatorRulesService,
    private readonly identities: IdentityDueRepository,
    private readonly signals: RecheckSignalsService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    if (this.signals.isOn) {
      this.rules.onChange((now, before) => {
        this.working = this.working.then(() => this.note(now, before));
      });
    }
  }

  /** The rules may have changed while no server ran. */
  onApplicationBootstrap(): void {
    if (this.signals.isOn) {
      const { rules, logger } = this;
      this.working = this.working.then(() =>
        // A server that stops meanwhile does so at its next start.
        logUnlessUnavailable(logger, () => this.noteStart(rules.current())),
      );
    }
  }

  private async note(now: RuledSettings, before: RuledSettings): Promise<void> {
    for (const provider of changedProviders(now, before)) {
      try {
        const judgeBefore = this.judgeUnder(before, provider);
        const judgeNow = this.judgeUnder(now, provider);
        const identities = await this.mark(provider, (one) =>
          isConcerned(one.status, judgeBefore(one), judgeNow(one)),
        );
        this.logger.log({ msg: 'rule signal', provider, identities });
      } catch (error) {
        const reason = isUnavailable(error) ? 'storage is unavailable' : String(error);
        this.logger.warn({ msg: 'rule signal lost', provider, reason });
      }
    }
  }

  private async noteStart(rules: RuledSettings): Promise<void> {
    const restricted = rules.providers.filter(isRestricted).map(({ id }) => id);
    for (const provider of [...restricted, ...(rules.mtls.enabled ? [CERTIFICATES] : [])]) {
      const judge = this.judgeUnder(rules, provider);
      const identities = await this.mark(provider, (one) => losesAccess(one.status, judge(one)));
      if (identities > 0) {
        this.logger.log({ msg: 'rule signal', provider, identities });
      }
    }
  }

  private mark(provider: string, isMarked: IsMarked): Promise<number> {
    return this.signals.mark(() => this.makeDue(provider, isMarked));
  }

  private async makeDue(provider: string, isMarked: IsMarked): Promise<number> {
    let made = 0;
    let after: string | null = null;
    do {
      const page: AnsweredIdentity[] = await this.identities.page(provider, after, BATCH);
      const marked = page.filter(isMarked);
      if (marked.length > 0) {
        made += await this.identities.makeTheseDue(marked.map(({ id }) => id));
      }
      after = page.length === BATCH ? (page.at(-1)?.id ?? null) : null;
    } while (after !== null);
    return made;
  }

  private judgeUnder({ providers, mtls }: RuledSettings, provider: string): Judge {
    if (provider === CERTIFICATES) {
      return ({ certificate, subject }) =>
        judgeRecord(certificate, subject, mtls, this.clock.now()).kind;
    }
    const settings = providers.find(({ id }) => id === provider);
    const rules = settings && capabilitiesOf(settings).rules;
    return ({ subject, facts }) =>
      rules === undefined || facts === null
        ? null
        : judgeEligibility(rules, { subject, facts }).status;
  }
}

function changedProviders(now: RuledSettings, before: RuledSettings): string[] {
  const changed = now.providers.filter((provider, index) => {
    const former = before.providers[index];
    return former === undefined || textOf(provider) !== textOf(former);
  });
  const ids = changed.map(({ id }) => id);
  const hasCertificates = now.mtls.enabled && rulesText(now) !== rulesText(before);
  return hasCertificates ? [...ids, CERTIFICATES] : ids;
}

function textOf(provider: RuledSettings['providers'][number]): string {
  return JSON.stringify(capabilitiesOf(provider).rules);
}

function rulesText({ mtls }: RuledSettings): string {
  return JSON.stringify([mtls.allowedIssuers, mtls.allowedEmailDomains]);
}
