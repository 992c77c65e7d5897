import { resolveSettings } from '../../config/resolve-settings.js';
import { explainAccount, type AccountExplanation } from '../../policy/findings/explain-account.js';
import { PlanTally, type PlanCounts } from '../../policy/findings/plan-tally.js';
import type {
  AccountPage,
  AccountPosition,
} from '../../storage/repositories/account-search.repository.js';
import type { CliContext } from '../command.js';
import { variablesToCheck } from '../server/config-report.js';
import { requireAccount } from './account.command.js';
import { withDatabase } from './database.js';

const BATCH = 500;

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
  const { settings: changed } = resolveSettings(variablesToCheck(context));
  return withDatabase(context, async ({ search, settings }) => {
    const tally = new PlanTally(settings, changed, Date.now());
    let after: AccountPosition | null = null;
    do {
      const page: AccountPage = await search.page({}, after, BATCH);
      page.accounts.forEach((account) => tally.add(account));
      after = page.next;
    } while (after !== null);
    const { losing: examples, ...counts } = tally.counts;
    context.output.result({ ...counts, examples }, describePlan(tally.counts));
  });
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

function describePlan({ accounts, lose, gain, unknown, losing }: PlanCounts): string {
  return [
    `Of ${accounts} accounts ${lose} would lose access and ${gain} would get it.`,
    `${unknown} depend on facts that only the provider has: they are checked after the change.`,
    ...(losing.length === 0 ? [] : ['Would lose access:', ...losing.map((id) => `  ${id}`)]),
  ].join('\n');
}
