import type { StoredAuditEvent } from '../../../core/policy/audit-event.js';
import { command } from '../command.js';
import { usageError } from '../cli-error.js';
import { durationMs, FIELDS } from '../options.js';
import { formatTime, type Listing } from '../output.js';
import { ADMIN_OPTIONS, WITH_ADMINISTRATION, withAdministration } from './with-administration.js';

const PERSON = /^[^\p{Cc}]{1,320}$/u;

const LISTING: Listing<StoredAuditEvent> = {
  fields: [
    ...(['id', 'at', 'kind', 'actor', 'accountId', 'provider', 'reason', 'detail'] as const),
    ...(['invitationId', 'sessionId', 'address', 'tokenEnd'] as const),
    ...(['subject', 'login', 'email', 'count', 'issuer', 'signalTxn'] as const),
  ],
  columns: [
    ['TIME', ({ at }) => formatTime(at)],
    ['EVENT', ({ kind }) => kind],
    ['ACTOR', ({ actor }) => actor],
    ['ACCOUNT', ({ accountId }) => accountId],
    ['PROVIDER', ({ provider = null }) => provider],
    ['INVITATION', ({ invitationId = null }) => invitationId],
    ['PERSON', ({ email, login, subject = null }) => email ?? login ?? subject],
    ['ADDRESS', ({ address = null }) => address],
    ['REASON', ({ reason = '', detail = '' }) => `${reason} ${detail}`.trim() || null],
    ['SIGNAL', ({ issuer = '', signalTxn = '' }) => `${issuer} ${signalTxn}`.trim() || null],
    ['TIMES', ({ count = 1 }) => String(count)],
  ],
  empty: 'No events.',
};

export const audit = command({
  name: 'audit',
  description: 'print the audit trail: sign-ups, refusals, links, checks, administration',
  options: [
    ['--since <time>', 'first event: 30m, 24h, 7d ago, or a date (default 24h)'],
    [
      '--person <text>',
      'refusals of a person: the beginning of a login, e-mail address or subject',
    ],
    FIELDS,
    ...ADMIN_OPTIONS,
  ],
  help: WITH_ADMINISTRATION,
  examples: [
    'gatehouse audit --since 7d',
    'gatehouse audit --person alice@example.com',
    'gatehouse audit --since 2026-05-01 --json --fields at,kind,accountId',
  ],
  run(context) {
    const { since: text = '24h', person } = context.options;
    const since = sinceOf(text, Date.now()).getTime();
    if (person !== undefined && !PERSON.test(person)) {
      throw usageError('--person must be 1 to 320 characters, without control characters.');
    }
    return withAdministration(context, async (administration) => {
      await context.output.list(LISTING, administration.audit({ since, person }));
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
