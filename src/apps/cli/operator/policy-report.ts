import type { AccountExplanation } from '../../../core/policy/findings/explain-account.js';
import { DECISION_MESSAGES } from '../../../core/policy/messages/decision-messages.js';
import { changesOf } from '../../../core/policy/messages/policy-changes.js';
import { describePlan } from './describe-plan.js';
import { readPlanVariables } from './plan-variables.js';
import { withAdministration, type AdminContext } from './with-administration.js';

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

export function plan(context: AdminContext<{ readonly file?: string }>): Promise<void> {
  const environment = readPlanVariables(context.options.file ?? '');
  return withAdministration(context, async (administration) => {
    const report = await administration.plan(environment);
    const { present, planned, losing: examples, ...counts } = report;
    const changes = changesOf(present, planned);
    context.output.result({ ...counts, examples, changes }, describePlan(report, changes));
  });
}

function describeExplanation(
  id: string,
  { code, reasons, providers, resourceServers }: AccountExplanation,
): string {
  const lines = providers.flatMap(({ provider, isRequired, isConfigured, sentences }) => [
    `${provider} (${isRequired ? 'required' : 'not required'}${isConfigured ? '' : ', not configured'}):`,
    ...sentences.map((sentence) => `  ${sentence}`),
  ]);
  const backends = resourceServers.map(({ sentence }) => sentence);
  const { allowed, refused } = DECISION_MESSAGES;
  const decided = code === null ? allowed : refused[code];
  return [id, `${decided}.`, ...reasons, ...lines, ...backends].join('\n');
}
