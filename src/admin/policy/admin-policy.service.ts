import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Admission } from '../../auth/admission.js';
import { Clock } from '../../common/clock.js';
import { uiConfig } from '../../config/browser.config.js';
import { httpConfig } from '../../config/http.config.js';
import { describePolicy } from '../../policy/findings/describe-policy.js';
import { findLockouts } from '../../policy/findings/lockout.js';
import { PlanTally } from '../../policy/findings/plan-tally.js';
import type { OperatorPolicy } from '../../policy/operator-policy.js';
import {
  AccountSearchRepository,
  type AccountPage,
  type AccountPosition,
} from '../../storage/repositories/account-search.repository.js';
import { AdministrationCountsRepository } from '../../storage/repositories/administration-counts.repository.js';
import type { AdminPolicyDto, PlanDto } from './admin-policy.dto.js';
import { proposedSettings } from './proposed-settings.js';

const BATCH = 500;
/** Accounts of a plan: beyond that many, a random part of all is judged. */
const SAMPLE = 10_000;

/** The policy in words, and what another one would change. */
@Injectable()
export class AdminPolicyService {
  constructor(
    private readonly admission: Admission,
    private readonly searches: AccountSearchRepository,
    private readonly counts: AdministrationCountsRepository,
    private readonly clock: Clock,
    @Inject(httpConfig.KEY) private readonly http: ConfigType<typeof httpConfig>,
    @Inject(uiConfig.KEY) private readonly ui: ConfigType<typeof uiConfig>,
  ) {}

  describe(): AdminPolicyDto {
    return inWords(this.present());
  }

  /** @throws AppError `invalid-request` for variables that are not valid */
  async plan(environment: Readonly<Record<string, unknown>>): Promise<PlanDto> {
    const changed = proposedSettings(environment);
    const { total } = await this.counts.accounts();
    const tally = new PlanTally(this.present(), changed, this.clock.now());
    const isSample = total > SAMPLE;
    // Ids are random, so that the accounts behind a random one are a random part of all.
    const start = isSample ? randomUUID() : null;
    const judged = await this.addBehind(tally, start, SAMPLE);
    if (isSample && judged < SAMPLE) {
      await this.addBehind(tally, null, SAMPLE - judged);
    }
    return { ...tally.counts, total, isSample, policy: inWords(changed) };
  }

  /** @returns how many accounts were added: fewer than `count` at the end of all */
  private async addBehind(tally: PlanTally, id: string | null, count: number): Promise<number> {
    let after: AccountPosition | null = id === null ? null : { key: id, id };
    let added = 0;
    do {
      const limit = Math.min(BATCH, count - added);
      const page: AccountPage = await this.searches.page({}, after, limit);
      page.accounts.forEach((account) => tally.add(account));
      added += page.accounts.length;
      after = page.next;
    } while (after !== null && added < count);
    return added;
  }

  private present(): OperatorPolicy {
    return { ...this.admission.policy, http: this.http, ui: this.ui };
  }
}

function inWords(policy: OperatorPolicy): AdminPolicyDto {
  return { sentences: describePolicy(policy), findings: findLockouts(policy) };
}
