import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { IdentityEvents } from '../../auth/identity-events.js';
import { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/errors.js';
import { authConfig } from '../../config/auth.config.js';
import { OperatorRules, type RuledSettings } from '../../config/rules/operator-rules.js';
import { Metrics } from '../../metrics/metrics.js';
import { CERTIFICATES } from '../../policy/admission/admission.js';
import { judgeRecord } from '../../policy/certificate/certificate-record.js';
import { judgeEligibility, type EligibilityStatus } from '../../policy/eligibility/eligibility.js';
import { isConcerned } from '../../policy/eligibility/offboarding.js';
import { eligibilityRulesOf } from '../../policy/eligibility/provider-rules.js';
import { CertificateFiles } from '../../providers/certificate/certificate-files.js';
import {
  IdentityDueRepository,
  type AnsweredIdentity,
} from '../../storage/repositories/identity-due.repository.js';

/** Identities that one statement reads. */
const BATCH = 500;

type Judge = (identity: AnsweredIdentity) => EligibilityStatus | null;

/**
 * Makes the identities due that changed allow rules may put out or let in, by the last answers about
 * them. Every replica does so for the rules that it has read: one that still has the former rules may
 * have checked an identity in between.
 */
@Injectable()
export class RuleSignals implements OnModuleInit {
  private readonly logger = new Logger('ProviderSignals');
  /** Changes are followed one after the other. */
  private working = Promise.resolve();

  constructor(
    private readonly rules: OperatorRules,
    private readonly files: CertificateFiles,
    private readonly identities: IdentityDueRepository,
    private readonly events: IdentityEvents,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
  ) {}

  onModuleInit(): void {
    this.metrics.observe(
      'gatehouse_configuration_files_unused',
      'Files of rules or certificates that changed to something this server cannot use: 0, 1 or 2 kinds.',
      () => Number(this.rules.hasUnusedChange) + Number(this.files.hasUnusedChange),
    );
    if (this.auth.offboarding.enabled) {
      this.rules.onChange((now, before) => {
        this.working = this.working.then(() => this.note(now, before));
      });
    }
  }

  /** While storage is away nothing is due earlier: the regular re-check finds the change. */
  private async note(now: RuledSettings, before: RuledSettings): Promise<void> {
    for (const provider of changedProviders(now, before)) {
      try {
        const judgeBefore = this.judgeUnder(before, provider);
        const judgeNow = this.judgeUnder(now, provider);
        const identities = await this.makeDue(provider, judgeBefore, judgeNow);
        this.logger.log({ msg: 'rule signal', provider, identities });
        if (identities > 0) {
          this.events.emit('identities-due');
        }
      } catch (error) {
        const reason = isUnavailable(error) ? 'storage is unavailable' : String(error);
        this.logger.warn({ msg: 'rule signal lost', provider, reason });
      }
    }
  }

  private async makeDue(provider: string, before: Judge, now: Judge): Promise<number> {
    let made = 0;
    let after: string | null = null;
    do {
      const page: AnsweredIdentity[] = await this.identities.page(provider, after, BATCH);
      const concerned = page.filter((one) => isConcerned(one.status, before(one), now(one)));
      if (concerned.length > 0) {
        made += await this.identities.makeTheseDue(concerned.map(({ id }) => id));
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
    const rules = settings && eligibilityRulesOf(settings);
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
  return JSON.stringify(eligibilityRulesOf(provider));
}

function rulesText({ mtls }: RuledSettings): string {
  return JSON.stringify([mtls.allowedIssuers, mtls.allowedEmailDomains]);
}
