import type { StoredAuditEvent } from '../../policy/audit-event.js';
import { command } from '../command.js';
import { usageError } from '../cli-error.js';
import { durationMs, FIELDS } from '../options.js';
import { formatTime, type Listing } from '../output.js';
import { ADMIN_OPTIONS, WITH_ADMINISTRATION, withAdministration } from './with-administration.js';

const LISTING: Listing<StoredAuditEvent> = {
  fields: [
    ...(['id', 'at', 'kind', 'actor', 'accountId', 'provider', 'reason'] as const),
    ...(['invitationId', 'sessionId', 'address', 'count'] as const),
  ],
  columns: [
    ['TIME', ({ at }) => formatTime(at)],
    ['EVENT', ({ kind }) => kind],
    ['ACTOR', ({ actor }) => actor],
    ['ACCOUNT', ({ accountId }) => accountId],
    ['PROVIDER', ({ provider = null }) => provider],
    ['INVITATION', ({ invitationId = null }) => invitationId],
    ['REASON', ({ reason = null }) => reason],
    ['TIMES', ({ count = 1 }) => String(count)],
  ],
  empty: 'No events.',
};

/** Prints the audit trail, oldest first. */
export const audit = command({
  name: 'audit',
  description: 'print the audit trail: sign-ups, refusals, links, checks, administration',
  options: [
    ['--since <time>', 'first event: 30m, 24h, 7d ago, or a date (default 24h)'],
    FIELDS,
    ...ADMIN_OPTIONS,
  ],
  help: WITH_ADMINISTRATION,
  run(context) {
    const since = sinceOf(context.options.since ?? '24h', Date.now());
    return withAdministration(context, async (administration) => {
      await context.output.list(LISTING, administration.audit(since.getTime()));
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
