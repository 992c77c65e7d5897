import type { StoredAuditEvent } from '../../policy/audit-event.js';
import { command } from '../command.js';
import { usageError } from '../cli-error.js';
import { durationMs } from '../options.js';
import { formatTime } from '../output.js';
import { ADMIN_OPTIONS, WITH_ADMINISTRATION, withAdministration } from './with-administration.js';

/** Prints the audit trail, oldest first. */
export const audit = command({
  name: 'audit',
  description: 'print the audit trail: sign-ups, refusals, links, checks, administration',
  options: [
    ['--since <time>', 'first event: 30m, 24h, 7d ago, or a date (default 24h)'],
    ...ADMIN_OPTIONS,
  ],
  help: WITH_ADMINISTRATION,
  run(context) {
    const since = sinceOf(context.options.since ?? '24h', Date.now());
    return withAdministration(context, async (administration) => {
      for await (const event of administration.audit(since.getTime())) {
        context.output.result(event, describe(event));
      }
    });
  },
});

function sinceOf(text: string, now: number): Date {
  const agoMs = durationMs(text);
  const date = new Date(agoMs === null ? text : now - agoMs);
  if (Number.isNaN(date.getTime())) {
    throw usageError('--since must be a time like 30m, 24h, 7d or 2026-05-01T00:00:00Z.');
  }
  return date;
}

function describe(event: StoredAuditEvent): string {
  const { at, kind, actor, accountId, provider, invitationId, reason, count } = event;
  const about = [
    accountId,
    provider,
    invitationId,
    reason,
    (count ?? 1) > 1 ? `${count} times` : undefined,
  ];
  return [formatTime(at), kind, `by ${actor}`, ...about.filter(Boolean)].join('  ');
}
