import type { AdminAuditQuery } from '../../../../packages/client/api/admin-client.js';
import { Button } from '../../ui/button.js';
import { SelectField, submitting, TextField, textOf } from '../../ui/fields.js';
import { NoticeLine, useNotedAction } from '../../ui/notice.js';
import { Freshness, Head } from '../head.js';
import { PageButtons, usePages } from '../pages.js';
import { listAddress, type Filter } from '../route.js';
import { keptToken, useSession } from '../session.js';
import { Lesson } from '../lesson.js';
import { LiveNotice } from '../use-live.js';
import { texts } from '../i18n/texts.js';
import { EventTable } from './event-table.js';
import { writeQuery } from '../../../../packages/client/api/query.js';
import {
  GatehouseProblem,
  readProblem,
  ServerUnreachable,
} from '../../../../packages/client/api/problem.js';
import { serverUrl } from '../../server.js';

const PAGE = 50;

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

/** As in the style sheet of the console. */
const NARROW = '(width < 48rem)';

/** Closed on a phone, where the fields would fill the first screen. */
function FilterForm({ filter }: { readonly filter: Filter }) {
  const { audit } = texts;
  const { length } = Object.keys(filter);
  const submit = submitting((values) => {
    const text = (name: string) => textOf(values, name);
    location.hash = listAddress('audit', {
      kind: text('kind'),
      actor: text('actor'),
      person: text('person'),
      accountId: text('accountId'),
      since: readTime(text('since')),
      until: readTime(text('until')),
    });
  });
  return (
    <details class="filter" open={!matchMedia(NARROW).matches}>
      <summary>{length === 0 ? audit.filter : `${audit.filter} (${length})`}</summary>
      <form class="filters" role="search" onSubmit={submit}>
        <FilterFields filter={filter} />
        <div class="row submit">
          <Button type="submit" class="primary" icon="search" text={audit.filter} />
          {length > 0 && (
            <a class="button plain" href={listAddress('audit', {})}>
              {audit.clear}
            </a>
          )}
        </div>
      </form>
    </details>
  );
}

function FilterFields({ filter }: { readonly filter: Filter }) {
  const { audit, kinds } = texts;
  return (
    <>
      <SelectField
        id="kind"
        name="kind"
        label={audit.kind}
        choices={[['', audit.anyKind], ...Object.entries(kinds)]}
        value={filter.kind ?? ''}
      />
      {(['actor', 'person', 'accountId'] as const).map((name) => (
        <TextField
          key={name}
          id={name}
          name={name}
          label={audit[name]}
          hint={audit.hints[name]}
          defaultValue={filter[name] ?? ''}
          isExact
        />
      ))}
      {(['since', 'until'] as const).map((name) => (
        <TextField
          key={name}
          id={name}
          name={name}
          type="datetime-local"
          label={audit[name]}
          defaultValue={writeTime(filter[name])}
        />
      ))}
    </>
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
  return (
    <section aria-labelledby="events">
      <div class="card-head">
        <div class="titled">
          <h2 id="events">{texts.audit.events}</h2>
          <Freshness live={live} />
        </div>
        <Download filter={filter} />
      </div>
      <LiveNotice live={live} />
      {live.value?.rows.length === 0 && <None isFiltered={Object.keys(filter).length > 0} />}
      {live.value !== null && live.value.rows.length > 0 && (
        <EventTable events={live.value.rows} withAccount />
      )}
      <PageButtons pages={pages} />
    </section>
  );
}

function None({ isFiltered }: { readonly isFiltered: boolean }) {
  const { audit } = texts;
  return isFiltered ? (
    <p class="empty">
      <strong>{audit.noMatch}</strong>
      {audit.noMatchHint}
    </p>
  ) : (
    <Lesson
      {...audit}
      code="gatehouse audit --since 24h"
      page="docs/administration.md#why-can-a-person-not-get-in"
    />
  );
}

/** A button, because a link would not send the token of this tab. */
function Download({ filter }: { readonly filter: Filter }) {
  const { end } = useSession();
  const { notice, isBusy, run } = useNotedAction(end);
  const download = () =>
    run(async () => {
      saveFile(await exportAudit(keptToken(), auditQuery(filter)), 'audit.ndjson');
    });
  return (
    <div class="lead">
      <Button disabled={isBusy} onClick={download} icon="download" text={texts.audit.download} />
      <NoticeLine notice={notice} />
    </div>
  );
}

function auditQuery({ kind, actor, person, accountId, since, until }: Filter): AdminAuditQuery {
  return {
    // The server rejects an unknown kind with an error that the page shows.
    ...(kind !== undefined && { kind: kind as AdminAuditQuery['kind'] }),
    ...(actor !== undefined && { actor }),
    ...(person !== undefined && { person }),
    ...(accountId !== undefined && { accountId }),
    ...(since !== undefined && { since: Number(since) }),
    ...(until !== undefined && { until: Number(until) }),
  };
}

/** @param local value of a field for date and time, in the browser's time zone */
function readTime(local: string): string {
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? '' : String(time);
}

function writeTime(milliseconds: string | undefined): string {
  const time = new Date(Number(milliseconds ?? Number.NaN));
  if (Number.isNaN(time.getTime())) {
    return '';
  }
  const pad = (value: number) => String(value).padStart(2, '0');
  const day = [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join('-');
  return `${day}T${pad(time.getHours())}:${pad(time.getMinutes())}`;
}

const LINES = 'application/x-ndjson';

/** @param token undefined = the credentials that the browser sends */
async function exportAudit(token: string | undefined, query: AdminAuditQuery): Promise<Blob> {
  const url = `${serverUrl()}/admin/v1/audit${writeQuery(query)}`;
  const headers = {
    accept: LINES,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(url, { headers, redirect: 'manual' }).catch((error: unknown) => {
    throw new ServerUnreachable(serverUrl(), 'the connection failed', { cause: error });
  });
  if (response.ok && response.headers.get('content-type')?.startsWith(LINES) === true) {
    return response.blob();
  }
  const { status } = response;
  const message = `The server answered ${status}, and not as a Gatehouse server does.`;
  throw (
    readProblem(await response.json().catch(() => null)) ??
    new GatehouseProblem({ status, code: 'unexpected-answer', message })
  );
}

function saveFile(contents: Blob, name: string): void {
  const url = URL.createObjectURL(contents);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
