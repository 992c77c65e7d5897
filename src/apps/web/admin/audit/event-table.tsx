import type { AdminAuditEvent } from '../../../../packages/client/api/admin-client.js';
import { formatDate, joinFacts } from '../../i18n/format.js';
import { accountAddress, listAddress } from '../route.js';
import { reasonName } from '../policy/statements.js';
import { useProviderName } from '../provider-names.js';
import { texts } from '../i18n/texts.js';
import { ListTable } from '../tables.js';

type Kind = AdminAuditEvent['kind'];

/** Emphasis for kinds that end or refuse access. */
const TONES: Partial<Readonly<Record<Kind, 'alarm' | 'caution' | 'good'>>> = {
  'login-refused': 'caution',
  'eligibility-lost': 'alarm',
  'eligibility-regained': 'good',
  'token-revoked': 'caution',
  'all-tokens-revoked': 'caution',
  'account-disabled': 'alarm',
  'account-enabled': 'good',
  'refusal-ended': 'good',
  'account-deleted': 'alarm',
  'admin-login-refused': 'alarm',
  'admin-refused': 'caution',
};

interface EventTableProps {
  readonly events: readonly AdminAuditEvent[];
  /** True if the events are of several accounts. */
  readonly withAccount: boolean;
}

export function EventTable({ events, withAccount }: EventTableProps) {
  const { audit } = texts;
  if (events.length === 0) {
    return <p class="empty">{audit.none}</p>;
  }
  const headings = [audit.at, audit.what, audit.actor, ...(withAccount ? [audit.account] : [])];
  return (
    <ListTable headings={headings} kind="events">
      {events.map((event) => (
        <Row key={event.id} event={event} withAccount={withAccount} />
      ))}
    </ListTable>
  );
}

function Row({ event, withAccount }: { event: AdminAuditEvent; withAccount: boolean }) {
  const { at, kind } = event;
  const providerName = useProviderName();
  return (
    <tr role="row">
      <td role="cell">
        <time dateTime={new Date(at).toISOString()}>{formatDate(at)}</time>
      </td>
      <td role="cell">
        <span class={`badge ${TONES[kind] ?? ''}`}>{kindName(kind)}</span>
        <span class="hint">{factsOf(event, providerName)}</span>
      </td>
      <td role="cell" data-label={texts.audit.actor}>
        <Actor event={event} providerName={providerName} />
      </td>
      {withAccount && (
        <td role="cell" data-label={texts.audit.account}>
          <Subject event={event} />
        </td>
      )}
    </tr>
  );
}

interface ActorProps {
  readonly event: AdminAuditEvent;
  readonly providerName: (id: string) => string;
}

/** A provider has its name. The owner has the name of the account, which stands next to it. */
function Actor({ event: { actor, accountId, provider }, providerName }: ActorProps) {
  const actors = { ...texts.actors, ...(accountId === null && { user: texts.audit.someone }) };
  const known = Object.hasOwn(actors, actor) ? actors[actor as keyof typeof actors] : actor;
  return (
    <>
      <a class="quiet-link" href={listAddress('audit', { actor })}>
        {known}
      </a>
      {actor === 'provider' && provider !== undefined && (
        <span class="hint">{providerName(provider)}</span>
      )}
    </>
  );
}

/** The name of a refused person who has no account. */
function personOf({ accountId, email, login, subject }: AdminAuditEvent): string | undefined {
  return accountId === null ? (email ?? login ?? subject) : undefined;
}

/** The account, or the person that the rules refused. */
function Subject({ event }: { readonly event: AdminAuditEvent }) {
  const { accountId, accountName } = event;
  if (accountId !== null) {
    return (
      <a class="quiet-link" href={accountAddress(accountId)}>
        {accountName ?? texts.accounts.unnamed(accountId.slice(0, 8))}
      </a>
    );
  }
  const person = personOf(event);
  return person === undefined ? null : (
    <a class="quiet-link" href={listAddress('audit', { person })}>
      {person}
    </a>
  );
}

function factsOf(event: AdminAuditEvent, providerName: (id: string) => string): string {
  const { kind, actor, provider, login, email, subject, address, tokenEnd, count = 1 } = event;
  const { detail, issuer, signalTxn } = event;
  const known = [login, email].filter((name) => name !== undefined);
  const names = known.length === 0 && subject !== undefined ? [subject] : known;
  // The person stands next to the event.
  const others = names.filter((name) => name !== personOf(event));
  // Administrators write their reasons; all others are codes.
  const isCode = kind === 'admin-refused' || Object.hasOwn(texts.actors, actor);
  const reason = isCode && event.reason !== undefined ? reasonName(event.reason) : event.reason;
  return joinFacts(
    ...others,
    reason,
    detail,
    provider !== undefined && providerName(provider),
    address,
    tokenEnd !== undefined && `…${tokenEnd}`,
    issuer,
    signalTxn !== undefined && texts.audit.signal(signalTxn),
    count > 1 && texts.audit.times(count),
  );
}

/** A newer server may have kinds that this page does not know. */
function kindName(kind: string): string {
  const { kinds } = texts;
  return Object.hasOwn(kinds, kind) ? kinds[kind as Kind] : kind;
}
