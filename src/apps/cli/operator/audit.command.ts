import type { NamedAuditEvent, StoredAuditEvent } from '../../../core/policy/audit-event.js';
import { command } from '../command.js';
import { usageError } from '../cli-error.js';
import { durationMs, FIELDS } from '../options.js';
import { formatTime, type Listing } from '../output.js';
import { ADMIN_OPTIONS, WITH_ADMINISTRATION, withAdministration } from './with-administration.js';

const PERSON = /^[^\p{Cc}]{1,320}$/u;

const LISTING: Listing<NamedAuditEvent> = {
  fields: [
    ...(['id', 'at', 'kind', 'actor', 'accountId', 'provider', 'reason', 'detail'] as const),
    ...(['invitationId', 'sessionId', 'address', 'tokenEnd'] as const),
    ...(['subject', 'login', 'email', 'count', 'issuer', 'signalTxn'] as const),
  ],
  // The rest is in --fields and --json: a line of a terminal has 80 columns.
  columns: [
    ['TIME (UTC)', ({ at }) => formatTime(at).slice(0, 16).replace('T', ' ')],
    ['EVENT', ({ kind }) => kind],
    ['PERSON', personOf],
    ['DETAIL', detailOf],
  ],
  isCut: true,
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

/** The parser of JavaScript reads `7` as a month. */
const DATE = /^\d{4}-\d\d-\d\d(T.+)?$/;

function sinceOf(text: string, now: number): Date {
  const agoMs = durationMs(text);
  const date = new Date(agoMs === null ? text : now - agoMs);
  if (Number.isNaN(date.getTime()) || (agoMs === null && !DATE.test(text))) {
    throw usageError('--since must be a time like 30m, 24h, 7d or 2026-05-01T00:00:00Z.');
  }
  return date;
}

const SHORT_ID = 8;
const MAX_PERSON = 20;
/** These actors follow from the kind of an event. */
const IMPLIED_ACTORS = ['user', 'system', 'provider'];

function shortened(name: string): string {
  const characters = [...name];
  return characters.length > MAX_PERSON ? `${characters.slice(0, MAX_PERSON - 1).join('')}…` : name;
}

/** Returns the name in the event, else that of the account, else the beginning of its ID. */
function personOf({
  accountId,
  accountName,
  email,
  login,
  subject,
}: NamedAuditEvent): string | null {
  const name = email ?? login ?? accountName ?? subject;
  return name ? shortened(name) : (accountId?.slice(0, SHORT_ID) ?? null);
}

function detailOf(event: StoredAuditEvent): string | null {
  const { provider, address, reason, detail, issuer, signalTxn, invitationId, count = 1 } = event;
  const isRefusal = event.kind.endsWith('refused');
  const parts = [
    provider,
    reason,
    detail,
    issuer,
    signalTxn,
    invitationId,
    isRefusal ? address : null,
    count > 1 ? `${count} times` : null,
    IMPLIED_ACTORS.includes(event.actor) ? null : `by ${event.actor}`,
  ];
  return parts.filter(Boolean).join(' ') || null;
}
