import { useState } from 'preact/hooks';
import type {
  AdminInvitation,
  AdminInvitationPage,
  CreatedInvitation,
} from '../../../client/api/admin-client.js';
import { NoticeLine, type Notice } from '../../ui/notice.js';
import { formatDate, formatRelative } from '../../words/format.js';
import { ActButton, type ActResult } from '../act-button.js';
import { Head } from '../head.js';
import { PageButtons, usePages } from '../pages.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { texts } from '../words/texts.js';
import { Created } from './created.js';
import { CreateButton } from './create-button.js';
import { stateOf } from './invitation-state.js';

const PAGE = 25;

/** The invitations with their inviters; the role `operate` creates and revokes them. */
export function Invitations() {
  const { client, caller } = useSession();
  const [areAccepted, setAccepted] = useState(true);
  const pages = usePages(async (cursor) => {
    const query = { limit: PAGE, ...(cursor && { cursor }) };
    const page: AdminInvitationPage = await client.invitations(query);
    setAccepted(page.areAccepted);
    return { rows: page.invitations, cursor: page.cursor };
  }, 'invitations');
  const [notice, notify] = useState<Notice | null>(null);
  const [created, show] = useState<CreatedInvitation | null>(null);
  const { live } = pages;
  const isEmpty = live.value?.rows.length === 0;
  const receive = (next: CreatedInvitation) => {
    show(next);
    live.reload();
  };
  return (
    <>
      <Head title={texts.nav.invitations} live={live}>
        {caller.role === 'operate' && areAccepted && (
          <CreateButton notify={notify} receive={receive} />
        )}
      </Head>
      <NoticeLine notice={live.notice ?? notice} />
      {!areAccepted && <NotAccepted />}
      {created !== null && <Created {...created} close={() => show(null)} />}
      {live.value === null && <Skeleton live={live} />}
      {isEmpty && areAccepted && <p class="empty">{texts.invitations.none}</p>}
      {live.value !== null && !isEmpty && (
        <section aria-label={texts.nav.invitations}>
          <p class="quiet">{texts.invitations.lead}</p>
          <List rows={live.value.rows} notify={notify} reload={live.reload} />
          <PageButtons pages={pages} />
        </section>
      )}
    </>
  );
}

function NotAccepted() {
  const { invitations } = texts;
  return (
    <div class="empty">
      <strong>{invitations.off}</strong>
      <p>{invitations.offHint}</p>
      <code>AUTH_SIGNUP_INVITATIONS_ENABLED=true</code>
    </div>
  );
}

interface ListProps extends ActResult {
  readonly rows: readonly AdminInvitation[];
}

function List({ rows, ...result }: ListProps) {
  return (
    <ul>
      {rows.map((row) => (
        <Row key={row.id} invitation={row} {...result} />
      ))}
    </ul>
  );
}

function Row({ invitation, ...result }: ActResult & { readonly invitation: AdminInvitation }) {
  const { caller } = useSession();
  const { id, note, uses, used, createdBy, createdAt, expiresAt } = invitation;
  const { invitations } = texts;
  const state = stateOf(invitation, Date.now());
  const isRevocable = state === 'open' || state === 'used-up';
  const name = note ?? invitations.unnamed;
  const facts = [
    invitations.used(used, uses),
    invitations.until(formatDate(expiresAt)),
    invitations.createdBy(createdBy, formatRelative(createdAt)),
  ];
  return (
    <li>
      <div>
        <span class="titled">
          <strong>{name}</strong>
          <span class={state === 'open' ? 'badge good' : 'badge'}>{invitations.states[state]}</span>
        </span>
        <span class="quiet">{facts.join(' · ')}</span>
        <span class="code hint">{id}</span>
      </div>
      {caller.role === 'operate' && isRevocable && <Revoke id={id} name={name} {...result} />}
    </li>
  );
}

interface RevokeProps extends ActResult {
  readonly id: string;
  readonly name: string;
}

function Revoke({ id, name, ...result }: RevokeProps) {
  const { client } = useSession();
  const { invitations } = texts;
  return (
    <ActButton
      texts={invitations.revoke}
      label={invitations.revokeNamed(name)}
      isDanger
      isSmall
      run={(reason) => client.revokeInvitation(id, reason)}
      {...result}
    />
  );
}
