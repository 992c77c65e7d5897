import type { UnmatchedPage } from '../../../client/api/admin-client.js';
import { formatRelative } from '../../i18n/format.js';
import { NoticeLine } from '../../ui/notice.js';
import { texts } from '../i18n/texts.js';
import { PageButtons, usePages } from '../pages.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { ListTable } from '../tables.js';

const PAGE = 25;

type Person = UnmatchedPage['people'][number];

/** The people of a directory who match no identity. */
export function UnmatchedPeople({ provider }: { readonly provider: string }) {
  const { client } = useSession();
  const pages = usePages(async (cursor) => {
    const page = await client.unmatchedPeople(provider, {
      limit: PAGE,
      ...(cursor && { cursor }),
    });
    return { rows: page.people, cursor: page.cursor };
  }, `unmatched ${provider}`);
  const { live } = pages;
  const { signals } = texts;
  return (
    <>
      <h3>{signals.unmatchedTitle}</h3>
      <p class="quiet">{signals.unmatchedLead}</p>
      <NoticeLine notice={live.notice} />
      {live.value === null ? (
        <Skeleton live={live} />
      ) : (
        <ListTable
          headings={[signals.userName, signals.externalId, signals.state, signals.changed]}
        >
          {live.value.rows.map((person) => (
            <Row key={person.id} person={person} />
          ))}
        </ListTable>
      )}
      <PageButtons pages={pages} />
    </>
  );
}

function Row({ person }: { readonly person: Person }) {
  const { userName, externalId, isActive, isAmbiguous, changedAt } = person;
  const { signals } = texts;
  const state = isActive ? signals.isActive : signals.isInactive;
  return (
    <tr role="row">
      <td role="cell">{userName}</td>
      <td role="cell" class="code">
        {externalId}
      </td>
      <td role="cell">{isAmbiguous ? signals.isAmbiguous(state) : state}</td>
      <td role="cell" data-label={signals.changed}>
        {formatRelative(changedAt)}
      </td>
    </tr>
  );
}
