import type { Change } from '../../../core/policy/messages/policy-changes.js';
import { PLAN_MESSAGES } from '../../../core/policy/messages/plan-messages.js';
import type { PlanReport } from './administration.js';

/** Describes a plan in the words of the console. */
export function describePlan(plan: PlanReport, changes: readonly Change[]): string {
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
