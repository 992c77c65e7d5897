import { Injectable } from '@nestjs/common';
import { Runtime } from '../../../common/runtime/runtime.js';
import { PlanTally } from '../../../core/policy/findings/plan-tally.js';
import {
  AccountSearchRepository,
  type AccountPage,
} from '../../storage/repositories/account-search.repository.js';
import { AccountAdminRepository } from '../../storage/repositories/account-admin.repository.js';
import { AdministrationCountsRepository } from '../../storage/repositories/administration-counts.repository.js';
import type { PlanDto } from './admin-policy.dto.js';
import { AdminPolicyService, inWords } from './admin-policy.service.js';
import { proposedSettings } from './proposed-settings.js';

const BATCH = 500;
/** Limit of accounts of a plan; beyond it, a random sample is judged. */
const SAMPLE = 10_000;

@Injectable()
export class AdminPlanService {
  constructor(
    private readonly policy: AdminPolicyService,
    private readonly searches: AccountSearchRepository,
    private readonly accounts: AccountAdminRepository,
    private readonly counts: AdministrationCountsRepository,
    private readonly runtime: Runtime,
  ) {}

  /** @throws AppError `invalid-request` for invalid variables */
  async plan(environment: Readonly<Record<string, unknown>>): Promise<PlanDto> {
    const changed = proposedSettings(environment);
    const { total } = await this.counts.accounts();
    const tally = new PlanTally(this.policy.present(), changed, this.runtime.clock.now());
    const isSample = total > SAMPLE;
    // Ids are random, so that the accounts after a random id are a random sample.
    const start = isSample ? this.runtime.random.uuid() : null;
    const judged = await this.addBehind(tally, start, SAMPLE);
    if (isSample && judged < SAMPLE) {
      await this.addBehind(tally, null, SAMPLE - judged);
    }
    const { losing, gaining } = tally.counts;
    const examples = [...losing, ...gaining];
    const names = await this.accounts.namesOf(examples);
    return {
      ...tally.counts,
      total,
      isSample,
      names: Object.fromEntries(names),
      policy: inWords(changed),
    };
  }

  /** @returns the number of added accounts, which is less than `count` only at the end */
  private async addBehind(tally: PlanTally, id: string | null, count: number): Promise<number> {
    let after = id;
    let added = 0;
    do {
      const limit = Math.min(BATCH, count - added);
      const page: AccountPage = await this.searches.inIdOrder(after, limit);
      page.accounts.forEach((account) => tally.add(account));
      added += page.accounts.length;
      after = page.next?.id ?? null;
    } while (after !== null && added < count);
    return added;
  }
}
