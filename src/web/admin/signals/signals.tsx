import type { AdminSignals, UnmatchedPage } from '../../../client/api/admin-client.js';
import { formatRelative } from '../../i18n/format.js';
import { NoticeLine } from '../../ui/notice.js';
import { formatCount } from '../format-count.js';
import { Head } from '../head.js';
import { texts } from '../i18n/texts.js';
import { useProviderName } from '../provider-names.js';
import { useSession } from '../session.js';
import { Skeleton } from '../skeleton.js';
import { useLive } from '../use-live.js';
import { PageButtons, usePages } from '../pages.js';
import { ListTable } from '../tables.js';

type Reported = AdminSignals['providers'][number];
type Stream = NonNullable<Reported['stream']>;
type Directory = NonNullable<Reported['directory']>;

/** The reports of each provider about leavers. */
export function Signals() {
  const { client } = useSession();
  const live = useLive(() => client.signals(), 'signals');
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.signals} live={live} />
      <NoticeLine notice={live.notice} />
      {value === null && <Skeleton live={live} />}
      {value?.providers.length === 0 && <None />}
      {value?.providers.map((reported) => (
        <Details key={reported.id} reported={reported} />
      ))}
    </>
  );
}

function None() {
  const { signals } = texts;
  return (
    <div class="empty">
      <strong>{signals.none}</strong>
      <p>{signals.noneHint}</p>
      <code>signals</code>
    </div>
  );
}

function Details({ reported: { id, received, stream, directory } }: { reported: Reported }) {
  const { signals } = texts;
  const nameOf = useProviderName();
  return (
    <section aria-labelledby={`signals-${id}`}>
      <h2 id={`signals-${id}`}>{nameOf(id)}</h2>
      <dl>
        <dt>{signals.last}</dt>
        <dd>
          {received.length === 0
            ? signals.never
            : received.map(({ kind, at }) => (
                <div key={kind}>{signals.received(signals.kinds[kind], formatRelative(at))}</div>
              ))}
        </dd>
        {stream !== null && <StreamState stream={stream} />}
        {directory !== null && <People directory={directory} />}
      </dl>
      {directory !== null && directory.unmatched > 0 && <UnmatchedPeople provider={id} />}
    </section>
  );
}

const TONES: Partial<Readonly<Record<NonNullable<Stream['status']>, string>>> = {
  enabled: 'good',
  paused: 'caution',
};

function StreamState({ stream }: { readonly stream: Stream }) {
  const { transmitter, delivery, status, reason, failure, seenAt } = stream;
  const { signals } = texts;
  const facts = [
    signals.deliveries[delivery],
    ...(reason === null ? [] : [reason]),
    ...(failure === null ? [] : [signals.failure(failure)]),
    ...(seenAt === null ? [] : [signals.seen(formatRelative(seenAt))]),
  ];
  return (
    <>
      <dt>{signals.stream}</dt>
      <dd>
        <span class={`badge ${status === null ? '' : (TONES[status] ?? 'alarm')}`}>
          {status === null ? signals.unconnected : signals.statuses[status]}
        </span>
        <div class="hint">{facts.join(' · ')}</div>
        <div class="code hint">{transmitter}</div>
      </dd>
    </>
  );
}

function People({ directory }: { readonly directory: Directory }) {
  const { people, active, matched, ambiguous, recentlyDeactivated, isRequired } = directory;
  const { signals } = texts;
  const facts = [
    signals.active(formatCount(active)),
    signals.matched(formatCount(matched)),
    ...(ambiguous === 0 ? [] : [signals.ambiguous(formatCount(ambiguous))]),
    ...(recentlyDeactivated === 0 ? [] : [signals.deactivated(formatCount(recentlyDeactivated))]),
  ];
  return (
    <>
      <dt>{signals.directory}</dt>
      <dd>
        {signals.people(formatCount(people), people)}{' '}
        {isRequired && <span class="badge">{texts.health.required}</span>}
        <div class="hint">{facts.join(' · ')}</div>
      </dd>
      <dt>{signals.unmatched}</dt>
      <dd>{formatCount(directory.unmatched)}</dd>
    </>
  );
}

const PAGE = 25;

type Person = UnmatchedPage['people'][number];

/** The people of a directory who match no identity. */
function UnmatchedPeople({ provider }: { readonly provider: string }) {
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
