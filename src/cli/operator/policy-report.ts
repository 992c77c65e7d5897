import { resolveSettings } from '../../config/resolve-settings.js';
import type { Settings } from '../../config/settings.js';
import { admissionTable, judgeAdmission } from '../../policy/admission/admission.js';
import { judgeEligibility } from '../../policy/eligibility/eligibility.js';
import { eligibilityRulesOf } from '../../policy/eligibility/provider-rules.js';
import {
  judgeAccess,
  predictAccess,
  type AccessOutcome,
  type OffboardingPolicy,
} from '../../policy/findings/policy-plan.js';
import type {
  AdministeredAccount,
  AdministeredIdentity,
} from '../../storage/repositories/account-admin.repository.js';
import type { CliContext } from '../command.js';
import { formatTime } from '../output.js';
import { variablesToCheck } from '../server/config-report.js';
import { requireAccount } from './account.command.js';
import { withDatabase } from './database.js';

const BATCH = 500;
const MAX_EXAMPLES = 20;

/** Prints the rules for one account, the facts they were applied to, and when those were read. */
export function explain(context: CliContext): Promise<void> {
  return withDatabase(context, async ({ accounts, settings }) => {
    const account = await requireAccount(accounts, context.args[0] ?? '');
    const { id, identities, disabledAt } = account;
    const isKeyless = account.keyMode === 'keyless';
    const stay = judgeAccess(policyOf(settings), { isKeyless, identities }, Date.now());
    const isAllowed = stay === 'allowed' && disabledAt === null;
    const { requiredLoginProviders: required } = settings.auth;
    const shown = new Set([...required, ...identities.map(({ provider }) => provider)]);
    const providers = [...shown].map((provider) => {
      const identity = identities.find((one) => one.provider === provider) ?? null;
      const isRequired = required.includes(provider);
      return { provider, required: isRequired, ...explainIdentity(settings, provider, identity) };
    });
    const logins = loginsOf(settings, account);
    context.output.result(
      { accountId: id, isAllowed, isKeyless, disabledAt, logins, providers },
      [
        `${id} is ${isAllowed ? 'allowed' : 'refused'}.`,
        disabledAt === null
          ? 'The account is enabled.'
          : `The account is disabled since ${formatTime(disabledAt)}.`,
        ...(isKeyless ? ['It has no device key: one of its identities has to be eligible.'] : []),
        ...logins.map((login) =>
          login.isAllowed
            ? `Login with ${login.method} is allowed.`
            : `Login with ${login.method} is refused by ${login.variable}: ${login.code}.`,
        ),
        ...providers.flatMap((one) => describe(one)),
      ].join('\n'),
    );
  });
}

/** The methods that open the account, each with the decision of the admission table. */
function loginsOf(settings: Settings, { keyMode, identities }: AdministeredAccount) {
  const table = admissionTable(settings);
  return keyMode === 'keyless'
    ? identities.map(({ provider: method }) => ({
        method,
        ...judgeAdmission(table, method, 'login', 'keyless'),
      }))
    : [{ method: 'key_challenge', ...judgeAdmission(table, 'key_challenge', 'login', 'keyed') }];
}

/** Counts the accounts that would lose or get access under the variables of another file. */
export function plan(context: CliContext<{ readonly file?: string }>): Promise<void> {
  const changed = policyOf(resolveSettings(variablesToCheck(context)).settings);
  return withDatabase(context, async ({ accounts, settings }) => {
    const present = policyOf(settings);
    const now = Date.now();
    const counts = { accounts: 0, lose: 0, gain: 0, unknown: 0 };
    const examples: string[] = [];
    let after: string | null = null;
    do {
      const page = await accounts.page(after, BATCH);
      for (const { id, identities, keyMode, disabledAt } of page) {
        const isEnabled = disabledAt === null;
        const known = { isKeyless: keyMode === 'keyless', identities };
        const before: AccessOutcome = isEnabled ? judgeAccess(present, known, now) : 'refused';
        const then: AccessOutcome = isEnabled
          ? predictAccess(present, changed, known, now)
          : 'refused';
        const isLost = before === 'allowed' && then === 'refused';
        counts.accounts += 1;
        counts.lose += isLost ? 1 : 0;
        counts.gain += before === 'refused' && then === 'allowed' ? 1 : 0;
        counts.unknown += then === 'unknown' ? 1 : 0;
        if (isLost && examples.length < MAX_EXAMPLES) {
          examples.push(id);
        }
      }
      after = page.length === BATCH ? (page.at(-1)?.id ?? null) : null;
    } while (after !== null);
    context.output.result({ ...counts, examples }, describePlan(counts, examples));
  });
}

function policyOf({ auth, providers }: Settings): OffboardingPolicy {
  return { ...auth, rules: new Map(providers.map((one) => [one.id, eligibilityRulesOf(one)])) };
}

function explainIdentity(settings: Settings, id: string, identity: AdministeredIdentity | null) {
  const provider = settings.providers.find((one) => one.id === id);
  const rules = provider === undefined ? null : eligibilityRulesOf(provider);
  const facts = identity?.facts ?? null;
  const verdict =
    rules === null || identity === null || facts === null
      ? null
      : judgeEligibility(rules, { subject: identity.subject, facts });
  return { isConfigured: provider !== undefined, identity, rules, verdict };
}

type Explained = { readonly provider: string; readonly required: boolean } & ReturnType<
  typeof explainIdentity
>;

function describe(explained: Explained): string[] {
  const { provider, required, isConfigured, identity, rules, verdict } = explained;
  const title = `${provider} (${required ? 'required' : 'not required'}${isConfigured ? '' : ', not configured'}):`;
  if (identity === null) {
    return [title, '  No identity is linked: provider-required.'];
  }
  const { login, status, reason, checkedAt, nextCheckAt, failures, facts } = identity;
  return [
    title,
    `  Linked as ${login ?? identity.subject}; stored result: ${status}${reason === null ? '' : ` (${reason})`}.`,
    `  Last definite answer ${timeOrNever(checkedAt)}; next check ${timeOrNever(nextCheckAt)}; ${failures} checks without an answer since.`,
    ...Object.entries(rules ?? {})
      .filter(([, rule]) => Array.isArray(rule) && rule.length > 0)
      .map(([name, rule]) => `  Rule ${name}: ${(rule as readonly string[]).join(', ')}`),
    `  Facts from the provider: ${facts === null ? 'none yet' : JSON.stringify(facts)}`,
    `  By these rules: ${verdict === null ? 'not judged' : toText(verdict)}.`,
  ];
}

function toText(verdict: { readonly status: string; readonly reason?: string }): string {
  return verdict.reason === undefined ? verdict.status : `${verdict.status} (${verdict.reason})`;
}

function timeOrNever(ms: number | null): string {
  return ms === null ? 'never' : formatTime(ms);
}

function describePlan(
  { accounts, lose, gain, unknown }: Readonly<Record<string, number>>,
  examples: readonly string[],
): string {
  return [
    `Of ${accounts} accounts ${lose} would lose access and ${gain} would get it.`,
    `${unknown} depend on facts that only the provider has: they are checked after the change.`,
    ...(examples.length === 0 ? [] : ['Would lose access:', ...examples.map((id) => `  ${id}`)]),
  ].join('\n');
}
