import type { AccountExplanation } from '../../policy/findings/explain-account.js';
import type { PlanCounts } from '../../policy/findings/plan-tally.js';
import { variablesToCheck } from '../server/config-report.js';
import { withAdministration, type AdminContext } from './with-administration.js';

/** Prints the rules for one account, the facts they were applied to, and when those were read. */
export function explain(context: AdminContext): Promise<void> {
  return withAdministration(context, async (administration) => {
    const [accountId = ''] = context.args;
    const { keyMode, disabledAt, explanation } = await administration.explain(accountId);
    const isAllowed = explanation.decision === 'allowed';
    const isKeyless = keyMode === 'keyless';
    context.output.result(
      { accountId, isAllowed, isKeyless, disabledAt, ...explanation },
      describeExplanation(accountId, explanation),
    );
  });
}

/** Counts the accounts that would lose or get access under the variables of another file. */
export function plan(context: AdminContext<{ readonly file?: string }>): Promise<void> {
  const environment = variablesToCheck(context);
  return withAdministration(context, async (administration) => {
    const counts = await administration.plan(environment);
    const { accounts, lose, gain, unknown, losing: examples, gaining } = counts;
    const value = { accounts, lose, gain, unknown, examples, gaining };
    context.output.result(value, describePlan(counts));
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
