import type { AccountExplanation } from '../../../core/policy/findings/explain-account.js';
import type { PlanCounts } from '../../../core/policy/findings/plan-tally.js';
import { DECISION_MESSAGES } from '../../../core/policy/messages/decision-messages.js';
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
    const counts = await administration.plan(environment);
    const { accounts, lose, gain, unknown, losing: examples, gaining, resourceServers } = counts;
    const value = { accounts, lose, gain, unknown, examples, gaining, resourceServers };
    context.output.result(value, describePlan(counts));
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

function describePlan(counts: PlanCounts): string {
  const { accounts, lose, gain, unknown, losing, resourceServers } = counts;
  return [
    `Of ${accounts} accounts ${lose} would lose access and ${gain} would get it.`,
    `${unknown} depend on facts that only the provider has: they are checked after the change.`,
    ...resourceServers.map(
      (server) =>
        `At ${server.id}, ${server.lose} would lose its tokens and ${server.gain} would get them; ${server.unknown} depend on their provider.`,
    ),
    ...(losing.length === 0 ? [] : ['Would lose access:', ...losing.map((id) => `  ${id}`)]),
  ].join('\n');
}
