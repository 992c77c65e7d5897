import { useState } from 'preact/hooks';
import type { AdminAuditQuery } from '../../../client/api/admin-client.js';
import { Icon } from '../../ui/icon.js';
import { NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { Freshness, Head } from '../head.js';
import { PageButtons, usePages } from '../pages.js';
import { listAddress, textOf, type Filter } from '../route.js';
import { keptToken, useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { texts } from '../words/texts.js';
import { auditQuery, readTime, writeTime } from './audit-query.js';
import { exportAudit } from './export-audit.js';
import { EventTable } from './event-table.js';
import { saveFile } from './save-file.js';

const PAGE = 50;

/** The audit trail, newest first, as far as the filter lets it through. */
export function Audit({ filter }: { readonly filter: Filter }) {
  const key = listAddress('audit', filter);
  return (
    <>
      <Head title={texts.nav.audit} />
      <FilterForm key={`form ${key}`} filter={filter} />
      <Events key={key} filter={filter} />
    </>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly isTime?: boolean;
  readonly value: string;
}

function FilterForm({ filter }: { readonly filter: Filter }) {
  const { audit } = texts;
  const submit = (event: Event) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => textOf(values, name);
    location.hash = listAddress('audit', {
      kind: text('kind'),
      actor: text('actor'),
      accountId: text('accountId'),
      since: readTime(text('since')),
      until: readTime(text('until')),
    });
  };
  const fields: readonly FieldProps[] = [
    { name: 'actor', label: audit.actor, value: filter.actor ?? '' },
    { name: 'accountId', label: audit.accountId, value: filter.accountId ?? '' },
    { name: 'since', label: audit.since, isTime: true, value: writeTime(filter.since) },
    { name: 'until', label: audit.until, isTime: true, value: writeTime(filter.until) },
  ];
  return (
    <form class="filters" role="search" onSubmit={submit}>
      <KindChoice chosen={filter.kind ?? ''} />
      {fields.map((field) => (
        <FilterField key={field.name} {...field} />
      ))}
      <div class="row submit">
        <button type="submit" class="primary">
          <Icon name="search" />
          {audit.filter}
        </button>
        {Object.keys(filter).length > 0 && (
          <a class="button plain" href={listAddress('audit', {})}>
            {audit.clear}
          </a>
        )}
      </div>
    </form>
  );
}

function KindChoice({ chosen }: { readonly chosen: string }) {
  const { audit, kinds } = texts;
  return (
    <div class="field">
      <label for="kind">{audit.kind}</label>
      <select id="kind" name="kind" value={chosen}>
        <option value="">{audit.anyKind}</option>
        {Object.entries(kinds).map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function FilterField({ name, label, value, isTime = false }: FieldProps) {
  const own = { id: name, name, defaultValue: value, autocomplete: 'off' };
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {isTime ? (
        <input type="datetime-local" {...own} />
      ) : (
        <input type="text" spellcheck={false} {...own} />
      )}
    </div>
  );
}

function Events({ filter }: { readonly filter: Filter }) {
  const { client } = useSession();
  const pages = usePages(
    async (cursor) => {
      const query: AdminAuditQuery = { ...auditQuery(filter), limit: PAGE };
      const page = await client.audit({ ...query, ...(cursor && { cursor }) });
      return { rows: page.events, cursor: page.cursor };
    },
    listAddress('audit', filter),
  );
  const { live } = pages;
  const { audit } = texts;
  return (
    <section aria-labelledby="events">
      <div class="card-head">
        <div class="titled">
          <h2 id="events">{audit.events}</h2>
          <Freshness live={live} />
        </div>
        <Download filter={filter} />
      </div>
      <NoticeLine notice={live.notice} />
      {live.value === null ? (
        <Skeleton live={live} />
      ) : (
        <EventTable events={live.value.rows} withAccount />
      )}
      <PageButtons pages={pages} />
    </section>
  );
}

/** A link would not carry the token of this tab. */
function Download({ filter }: { readonly filter: Filter }) {
  const { end } = useSession();
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show, end);
  const download = () =>
    run(async () => {
      saveFile(await exportAudit(keptToken(), auditQuery(filter)), 'audit.ndjson');
    });
  return (
    <div class="lead">
      <button type="button" disabled={isBusy} onClick={download}>
        <Icon name="download" />
        {texts.audit.download}
      </button>
      <NoticeLine notice={notice} />
    </div>
  );
}
