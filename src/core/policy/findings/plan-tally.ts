import type { ResourceServerRules } from '../admission/resource-server.js';
import { capabilitiesOf } from '../eligibility/provider-rules.js';
import type { KeyMode, OperatorPolicy } from '../operator-policy.js';
import {
  judgeAccess,
  predictAccess,
  type AccessOutcome,
  type KnownAccount,
  type KnownIdentity,
  type OffboardingPolicy,
} from './policy-plan.js';

const MAX_EXAMPLES = 20;

interface PlannedAccount {
  readonly id: string;
  readonly keyMode: KeyMode;
  /** null = not disabled. */
  readonly disabledAt: number | null;
  readonly identities: readonly KnownIdentity[];
}

interface Changes {
  readonly lose: number;
  readonly gain: number;
  /** Only the provider can decide about these. */
  readonly unknown: number;
}

/** Accounts whose sessions would lose or gain tokens of a backend. */
interface ResourceServerChanges extends Changes {
  readonly id: string;
}

export interface PlanCounts extends Changes {
  readonly accounts: number;
  /** Ids of the first accounts that would lose access. */
  readonly losing: readonly string[];
  /** Ids of the first accounts that would gain access. */
  readonly gaining: readonly string[];
  /** The backends of the present and of the changed policy. */
  readonly resourceServers: readonly ResourceServerChanges[];
}

type PlannedPolicy = Pick<OperatorPolicy, 'auth' | 'mtls' | 'providers' | 'resourceServers'>;

type Tally = { -readonly [Name in keyof Changes]: number };

export class PlanTally {
  private readonly present: OffboardingPolicy;
  private readonly changed: OffboardingPolicy;
  private accounts = 0;
  private readonly access: Tally = { lose: 0, gain: 0, unknown: 0 };
  private readonly losing: string[] = [];
  private readonly gaining: string[] = [];
  private readonly backends: ReadonlyMap<string, Tally>;

  constructor(
    private readonly before: PlannedPolicy,
    private readonly after: PlannedPolicy,
    private readonly now: number,
  ) {
    this.present = offboardingPolicyOf(before);
    this.changed = offboardingPolicyOf(after);
    const ids = [...before.resourceServers, ...after.resourceServers].map(({ id }) => id);
    this.backends = new Map(ids.map((id) => [id, { lose: 0, gain: 0, unknown: 0 }]));
  }

  add({ id, keyMode, disabledAt, identities }: PlannedAccount): void {
    this.accounts += 1;
    const known = { isKeyless: keyMode === 'keyless', identities };
    const isDisabled = disabledAt !== null;
    const change = this.judge(known, isDisabled, this.present, this.changed);
    count(this.access, change);
    if (change === 'lose') {
      keepExample(this.losing, id);
    } else if (change === 'gain') {
      keepExample(this.gaining, id);
    }
    for (const [server, tally] of this.backends) {
      const present = rulesAt(this.before, this.present, server, known);
      const changed = rulesAt(this.after, this.changed, server, known);
      count(tally, this.judge(known, isDisabled, present, changed));
    }
  }

  get counts(): PlanCounts {
    const { accounts, access, losing, gaining, backends } = this;
    const resourceServers = [...backends].map(([id, tally]) => ({ id, ...tally }));
    return { accounts, ...access, losing: [...losing], gaining: [...gaining], resourceServers };
  }

  /** @param present null = the account is refused whatever its identities are; so is `changed` */
  private judge(
    account: KnownAccount,
    isDisabled: boolean,
    present: OffboardingPolicy | null,
    changed: OffboardingPolicy | null,
  ): keyof Tally | null {
    const isRefusedBefore = isDisabled || present === null;
    const before = isRefusedBefore ? 'refused' : judgeAccess(present, account, this.now);
    const then =
      isDisabled || changed === null
        ? 'refused'
        : predictAccess(present ?? this.present, changed, account, this.now);
    return changeOf(before, then);
  }
}

function changeOf(before: AccessOutcome, then: AccessOutcome): keyof Tally | null {
  if (then === 'unknown') {
    return 'unknown';
  }
  if (before === 'allowed' && then === 'refused') {
    return 'lose';
  }
  return before === 'refused' && then === 'allowed' ? 'gain' : null;
}

function count(tally: Tally, change: keyof Tally | null): void {
  if (change !== null) {
    tally[change] += 1;
  }
}

/** Adds the rules of a backend. Returns null where it is not configured or refuses the account. */
function rulesAt(
  { resourceServers }: PlannedPolicy,
  policy: OffboardingPolicy,
  id: string,
  { isKeyless }: KnownAccount,
): OffboardingPolicy | null {
  const server: ResourceServerRules | undefined = resourceServers.find((one) => one.id === id);
  if (server === undefined || (isKeyless && !server.allowKeyless)) {
    return null;
  }
  const required = [...policy.requiredLoginProviders, ...server.requireProviders];
  return { ...policy, requiredLoginProviders: [...new Set(required)] };
}

function keepExample(examples: string[], id: string): void {
  if (examples.length < MAX_EXAMPLES) {
    examples.push(id);
  }
}

function offboardingPolicyOf({ auth, providers, mtls }: PlannedPolicy): OffboardingPolicy {
  return {
    ...auth,
    rules: new Map(providers.map((one) => [one.id, capabilitiesOf(one).rules])),
    certificates: mtls.enabled ? mtls : null,
  };
}
