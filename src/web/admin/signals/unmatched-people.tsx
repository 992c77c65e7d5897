import type { UnmatchedPage } from '../../../client/api/admin-client.js';
import { formatRelative } from '../../i18n/format.js';
import { NoticeLine } from '../../ui/notice.js';
import { texts } from '../i18n/texts.js';
import { PageButtons, usePages } from '../pages.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';

const PAGE = 25;
const COLUMNS = ['userName', 'externalId', 'state', 'changed'] as const;

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
        <table class="list" role="table">
          <thead role="rowgroup">
            <tr role="row">
              {COLUMNS.map((column) => (
                <th key={column} scope="col" role="columnheader">
                  {signals[column]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {live.value.rows.map((person) => (
              <Row key={person.id} person={person} />
            ))}
          </tbody>
        </table>
      )}
      <PageButtons pages={pages} />
    </>
  );
}

/** Roles and labels are explicit, because a narrow window shows the table as a list. */
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
