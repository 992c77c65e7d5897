import { resolveSettings } from '../../config/resolve-settings.js';
import type { Settings } from '../../config/settings.js';
import { eligibilityRulesOf } from '../../policy/eligibility/provider-rules.js';
import { explainAccount, type AccountExplanation } from '../../policy/findings/explain-account.js';
import {
  judgeAccess,
  predictAccess,
  type AccessOutcome,
  type OffboardingPolicy,
} from '../../policy/findings/policy-plan.js';
import type { CliContext } from '../command.js';
import { variablesToCheck } from '../server/config-report.js';
import { requireAccount } from './account.command.js';
import { withDatabase } from './database.js';

const BATCH = 500;
const MAX_EXAMPLES = 20;

/** Prints the rules for one account, the facts they were applied to, and when those were read. */
export function explain(context: CliContext): Promise<void> {
  return withDatabase(context, async ({ accounts, settings }) => {
    const account = await requireAccount(accounts, context.args[0] ?? '');
    const { id: accountId, keyMode, disabledAt } = account;
    const explanation = explainAccount(settings, account, Date.now());
    const isAllowed = explanation.decision === 'allowed';
    const isKeyless = keyMode === 'keyless';
    context.output.result(
      { accountId, isAllowed, isKeyless, disabledAt, ...explanation },
      describeExplanation(accountId, explanation),
    );
  });
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

function describeExplanation(
  id: string,
  { decision, reasons, providers }: AccountExplanation,
): string {
  const lines = providers.flatMap(({ provider, isRequired, isConfigured, sentences }) => [
    `${provider} (${isRequired ? 'required' : 'not required'}${isConfigured ? '' : ', not configured'}):`,
    ...sentences.map((sentence) => `  ${sentence}`),
  ]);
  return [`${id} is ${decision}.`, ...reasons, ...lines].join('\n');
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
