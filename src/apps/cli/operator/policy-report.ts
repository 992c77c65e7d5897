import type { AccountExplanation } from '../../../core/policy/findings/explain-account.js';
import { DECISION_MESSAGES } from '../../../core/policy/messages/decision-messages.js';
import { type Change, changesOf } from '../../../core/policy/messages/policy-changes.js';
import { readPlanVariables } from './plan-variables.js';
import { type AdminContext, withAdministration } from './with-administration.js';
import { PLAN_MESSAGES } from '../../../core/policy/messages/plan-messages.js';
import type { PlanReport } from './administration.js';

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

/** Describes a plan in the words of the console. */
function describePlan(plan: PlanReport, changes: readonly Change[]): string {
  const { accounts, total, isSample, lose, gain, unknown, losing, gaining } = plan;
  const { resourceServers } = plan;
  const { sameSentences, same } = PLAN_MESSAGES;
  return [
    isSample
      ? PLAN_MESSAGES.sample(String(accounts), String(total))
      : PLAN_MESSAGES.judged(String(accounts), accounts),
    '',
    `${PLAN_MESSAGES.lose}: ${lose}`,
    ...peopleOf(plan, losing, lose),
    `${PLAN_MESSAGES.gain}: ${gain}`,
    ...peopleOf(plan, gaining, gain),
    `${PLAN_MESSAGES.unknown}: ${unknown}`,
    ...(resourceServers.length === 0 ? [] : ['', `${PLAN_MESSAGES.backends}:`]),
    ...resourceServers.map(
      (server) =>
        `  ${server.id}: ${server.lose} would lose them, ${server.gain} would get them, ${server.unknown} unknown`,
    ),
    '',
    `${PLAN_MESSAGES.sentences}:`,
    ...changes.flatMap(linesOf),
    ...(changes.length > 0 ? [] : [`  ${lose + gain + unknown > 0 ? sameSentences : same}`]),
  ].join('\n');
}

function peopleOf({ names }: PlanReport, ids: readonly string[], count: number): string[] {
  return [
    ...ids.map((id) => `  ${id}  ${names[id] ?? ''}`.trimEnd()),
    ...(count > ids.length ? [`  and ${count - ids.length} more`] : []),
  ];
}

function linesOf(change: Change): string[] {
  const { rules, before, after, none } = PLAN_MESSAGES;
  if (change.kind === 'rule') {
    const values = (list: readonly string[]) => list.join(', ') || none;
    const { provider, rule } = change;
    return [`  ${provider}, ${rules[rule]}: ${values(change.before)} → ${values(change.after)}`];
  }
  return [
    ...(change.before === null ? [] : [`  ${before} ${change.before.message}`]),
    ...(change.after === null ? [] : [`  ${after} ${change.after.message}`]),
  ];
}
