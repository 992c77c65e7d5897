import { eligibilityRulesOf } from '../eligibility/provider-rules.js';
import type { KeyMode, OperatorPolicy } from '../operator-policy.js';
import {
  judgeAccess,
  predictAccess,
  type AccessOutcome,
  type KnownIdentity,
  type OffboardingPolicy,
} from './policy-plan.js';

const MAX_EXAMPLES = 20;

/** An account whose access a plan predicts. */
export interface PlannedAccount {
  readonly id: string;
  readonly keyMode: KeyMode;
  /** null = it is not disabled. */
  readonly disabledAt: number | null;
  readonly identities: readonly KnownIdentity[];
}

/** How many accounts a changed policy concerns. */
export interface PlanCounts {
  readonly accounts: number;
  readonly lose: number;
  readonly gain: number;
  /** Only their provider can say. */
  readonly unknown: number;
  /** Ids of the first that would lose access. */
  readonly losing: readonly string[];
  /** Ids of the first that would get it. */
  readonly gaining: readonly string[];
}

type PlannedPolicy = Pick<OperatorPolicy, 'auth' | 'mtls' | 'providers'>;

/** Counts the accounts that would lose or get access under a changed policy. */
export class PlanTally {
  private readonly present: OffboardingPolicy;
  private readonly changed: OffboardingPolicy;
  private accounts = 0;
  private unknown = 0;
  private readonly losing: string[] = [];
  private readonly gaining: string[] = [];
  private lose = 0;
  private gain = 0;

  /** @param now Unix milliseconds, for the age of answers */
  constructor(
    present: PlannedPolicy,
    changed: PlannedPolicy,
    private readonly now: number,
  ) {
    this.present = offboardingPolicyOf(present);
    this.changed = offboardingPolicyOf(changed);
  }

  add({ id, keyMode, disabledAt, identities }: PlannedAccount): void {
    const known = { isKeyless: keyMode === 'keyless', identities };
    const outcome = (judged: () => AccessOutcome): AccessOutcome =>
      disabledAt === null ? judged() : 'refused';
    const before = outcome(() => judgeAccess(this.present, known, this.now));
    const then = outcome(() => predictAccess(this.present, this.changed, known, this.now));
    this.accounts += 1;
    this.unknown += then === 'unknown' ? 1 : 0;
    if (before === 'allowed' && then === 'refused') {
      this.lose += 1;
      keepExample(this.losing, id);
    } else if (before === 'refused' && then === 'allowed') {
      this.gain += 1;
      keepExample(this.gaining, id);
    }
  }

  get counts(): PlanCounts {
    const { accounts, lose, gain, unknown, losing, gaining } = this;
    return { accounts, lose, gain, unknown, losing: [...losing], gaining: [...gaining] };
  }
}

function keepExample(examples: string[], id: string): void {
  if (examples.length < MAX_EXAMPLES) {
    examples.push(id);
  }
}

function offboardingPolicyOf({ auth, providers, mtls }: PlannedPolicy): OffboardingPolicy {
  return {
    ...auth,
    rules: new Map(providers.map((one) => [one.id, eligibilityRulesOf(one)])),
    certificates: mtls.enabled ? mtls : null,
  };
}
