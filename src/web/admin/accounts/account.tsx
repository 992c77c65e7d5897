import { useState } from 'preact/hooks';
import { GatehouseProblem } from '../../../client/api/problem.js';
import type { AdminAccount, AdminAuditEvent } from '../../../client/api/admin-client.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Icon } from '../../ui/icon.js';
import { NoticeLine, type Notice } from '../../ui/notice.js';
import { formatDate, formatRelative } from '../../words/format.js';
import { words } from '../../words/words.js';
import { EventTable } from '../audit/event-table.js';
import { Head } from '../head.js';
import { listAddress } from '../route.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { useLive } from '../use-live.js';
import { texts } from '../words/texts.js';
import { nameOf, stateOf } from './account-names.js';
import type { ActResult } from '../act-button.js';
import { Acts } from './acts.js';
import { Decision } from './decision.js';
import { Identities } from './identities.js';
import { Sessions } from './sessions.js';

const EVENTS = 20;

/** One account: what is known of it, why it is served or refused, and what can be done. */
export function Account({ id }: { readonly id: string }) {
  const { client } = useSession();
  const live = useLive(async () => {
    const [account, { events }] = await Promise.all([
      client.account(id).catch(absent),
      client.audit({ accountId: id, limit: EVENTS }),
    ]);
    return { account, events };
  }, id);
  const [notice, notify] = useState<Notice | null>(null);
  const result = { notify, reload: live.reload };
  const { value } = live;
  const account = value?.account ?? null;
  const { detail } = texts;
  return (
    <>
      <a class="back" href={listAddress('accounts', {})}>
        <Icon name="back" />
        {texts.nav.accounts}
      </a>
      <Head title={account === null ? detail.title : nameOf(account)} live={live}>
        {account !== null && <State account={account} />}
      </Head>
      <NoticeLine notice={live.notice ?? notice} />
      {value === null && <Skeleton live={live} />}
      {value !== null && account === null && (
        <p class="empty">
          <strong>{detail.absent}</strong>
          {detail.absentHint}
        </p>
      )}
      {account !== null && <Parts account={account} {...result} />}
      {value !== null && <History id={id} events={value.events} />}
    </>
  );
}

function Parts({ account, ...result }: ActResult & { readonly account: AdminAccount }) {
  const { caller } = useSession();
  return (
    <>
      {caller.role === 'operate' && <Acts account={account} {...result} />}
      <Decision explain={account.explain} />
      <Identities account={account} />
      <Sessions account={account} {...result} />
      <Details account={account} />
    </>
  );
}

interface HistoryProps {
  readonly id: string;
  readonly events: readonly AdminAuditEvent[];
}

function History({ id, events }: HistoryProps) {
  const { detail } = texts;
  return (
    <section aria-labelledby="history">
      <div class="card-head">
        <h2 id="history">{detail.history}</h2>
        <a href={listAddress('audit', { accountId: id })}>{detail.allEvents}</a>
      </div>
      <EventTable events={events} withAccount={false} />
    </section>
  );
}

/** Deleted, or never there: its history may still be. */
function absent(error: unknown): null {
  if (error instanceof GatehouseProblem && error.code === 'not-found') {
    return null;
  }
  throw error;
}

function State({ account }: { readonly account: AdminAccount }) {
  const { tone, text } = stateOf(account);
  return <span class={`badge ${tone}`}>{text}</span>;
}

function Details({ account }: { readonly account: AdminAccount }) {
  const { id, createdAt, disabledAt, keyMode, encryptionMode, lastSeenAt } = account;
  const { overview } = words;
  const { detail } = texts;
  return (
    <section aria-labelledby="details">
      <h2 id="details">{overview.details}</h2>
      <dl>
        <dt>{overview.id}</dt>
        <dd class="row">
          <span class="code">{id}</span>
          <CopyButton text={id} label={overview.id} />
        </dd>
        <dt>{overview.created}</dt>
        <dd>{formatDate(createdAt)}</dd>
        {disabledAt !== null && (
          <>
            <dt>{texts.accounts.disabled}</dt>
            <dd>{formatDate(disabledAt)}</dd>
          </>
        )}
        <dt>{texts.accounts.lastSeen}</dt>
        <dd>{lastSeenAt === null ? texts.accounts.never : formatRelative(lastSeenAt)}</dd>
        <dt>{overview.signIn}</dt>
        <dd>{detail[keyMode]}</dd>
        <dt>{overview.content}</dt>
        <dd>{detail[encryptionMode]}</dd>
      </dl>
    </section>
  );
}
