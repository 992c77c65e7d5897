import type { AdminAuditEvent } from '../../../client/api/admin-client.js';
import { formatDate } from '../../words/format.js';
import { accountAddress, listAddress } from '../route.js';
import { texts } from '../words/texts.js';

type Kind = AdminAuditEvent['kind'];

/** Kinds that end or refuse access stand out. */
const TONES: Partial<Readonly<Record<Kind, 'alarm' | 'caution' | 'good'>>> = {
  'login-refused': 'caution',
  'eligibility-lost': 'alarm',
  'eligibility-regained': 'good',
  'token-revoked': 'caution',
  'all-tokens-revoked': 'caution',
  'account-disabled': 'alarm',
  'account-enabled': 'good',
  'account-deleted': 'alarm',
};

interface EventTableProps {
  readonly events: readonly AdminAuditEvent[];
  /** Whether they are of several accounts. */
  readonly withAccount: boolean;
}

/** Events of the audit trail, as they are given. */
export function EventTable({ events, withAccount }: EventTableProps) {
  const { audit } = texts;
  if (events.length === 0) {
    return <p class="empty">{audit.none}</p>;
  }
  const columns = ['at', 'what', 'actor', ...(withAccount ? (['account'] as const) : [])] as const;
  return (
    <table class="list events" role="table">
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column} scope="col" role="columnheader">
              {audit[column]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {events.map((event) => (
          <Row key={event.id} event={event} withAccount={withAccount} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ event, withAccount }: { event: AdminAuditEvent; withAccount: boolean }) {
  const { at, kind, actor, accountId } = event;
  return (
    <tr role="row">
      <td role="cell">
        <time dateTime={new Date(at).toISOString()}>{formatDate(at)}</time>
      </td>
      <td role="cell">
        <span class={`badge ${TONES[kind] ?? ''}`}>{kindName(kind)}</span>
        <span class="hint">{factsOf(event)}</span>
      </td>
      <td role="cell" data-label={texts.audit.actor}>
        <a class="quiet-link" href={listAddress('audit', { actor })}>
          {actorName(actor)}
        </a>
      </td>
      {withAccount && (
        <td role="cell" data-label={texts.audit.account}>
          {accountId !== null && (
            <a class="code quiet-link" href={accountAddress(accountId)}>
              {accountId.slice(0, 8)}
            </a>
          )}
        </td>
      )}
    </tr>
  );
}

function factsOf({ reason, provider, address, count = 1 }: AdminAuditEvent): string {
  return [
    ...(reason === undefined ? [] : [reason]),
    ...(provider === undefined ? [] : [provider]),
    ...(address === undefined ? [] : [address]),
    ...(count === 1 ? [] : [texts.audit.times(count)]),
  ].join(' · ');
}

/** A newer server may have a kind that this page does not know. */
export function kindName(kind: string): string {
  const { kinds } = texts;
  return Object.hasOwn(kinds, kind) ? kinds[kind as Kind] : kind;
}

function actorName(actor: string): string {
  const { actors } = texts;
  return Object.hasOwn(actors, actor) ? actors[actor as keyof typeof actors] : actor;
}
