import { useState } from 'preact/hooks';
import type { AdminSignals, UnmatchedPage } from '../../../../packages/client/api/admin-client.js';
import { formatPast, joinFacts } from '../../i18n/format.js';
import type { Notice } from '../../ui/notice.js';
import { ActionButton, type ActionResult } from '../action-button.js';
import { formatCount } from '../format-count.js';
import { Head } from '../head.js';
import { texts } from '../i18n/texts.js';
import { useProviderName } from '../provider-names.js';
import { useSession } from '../session.js';
import { Lesson } from '../lesson.js';
import { LiveNotice, useLive } from '../use-live.js';
import { PageButtons, usePages } from '../pages.js';
import { ListTable } from '../tables.js';
import { Section } from '../../ui/section.js';

type Reported = AdminSignals['providers'][number];
type Stream = NonNullable<Reported['stream']>;
type Directory = NonNullable<Reported['directory']>;

const FIRST_SIGNALS = `"signals": {
  "scim": {
    "tokenFile": "scim-token.txt",
    "match": "externalId"
  }
}`;

/** The reports of each provider about leavers. */
export function Signals() {
  const { client } = useSession();
  const live = useLive(() => client.signals(), 'signals');
  const [notice, notify] = useState<Notice | null>(null);
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.signals} live={live} />
      <LiveNotice live={live} notice={notice} />
      {value?.providers.length === 0 && (
        <Lesson
          {...texts.signals}
          code={FIRST_SIGNALS}
          page="docs/offboarding.md#signals-of-providers"
        />
      )}
      {value?.providers.map((reported) => (
        <Details key={reported.id} reported={reported} notify={notify} reload={live.reload} />
      ))}
    </>
  );
}

function Details({ reported, ...result }: ActionResult & { readonly reported: Reported }) {
  const { id, received, stream, directory } = reported;
  const { signals } = texts;
  const nameOf = useProviderName();
  return (
    <Section id={`signals-${id}`} title={nameOf(id)}>
      <dl>
        <dt>{signals.last}</dt>
        <dd>
          {received.length === 0
            ? signals.never
            : received.map(({ kind, at }) => (
                <div key={kind}>{signals.received(signals.kinds[kind], formatPast(at))}</div>
              ))}
        </dd>
        {stream !== null && <StreamState stream={stream} />}
        {directory !== null && <People directory={directory} />}
      </dl>
      {directory !== null && directory.unmatched > 0 && (
        <UnmatchedPeople provider={id} count={directory.unmatched} notify={result.notify} />
      )}
      {(stream !== null || directory !== null) && <EndOther provider={id} {...result} />}
    </Section>
  );
}

/** Ends the refusal of a person who is in no list. */
function EndOther({ provider, ...result }: ActionResult & { readonly provider: string }) {
  const { client } = useSession();
  const nameOf = useProviderName();
  const { signals } = texts;
  return (
    <ActionButton
      label={signals.endOtherAt(nameOf(provider))}
      textsOf={() => ({ ...texts.signals.endRefusal, ...texts.signals.endOther })}
      field={{ label: signals.person, hint: signals.personHint }}
      run={(reason, name) => client.endRefusal(provider, name, reason)}
      {...result}
    />
  );
}

const TONES: Partial<Readonly<Record<NonNullable<Stream['status']>, string>>> = {
  enabled: 'good',
  paused: 'caution',
};

function StreamState({ stream }: { readonly stream: Stream }) {
  const { transmitter, delivery, status, reason, failure, seenAt } = stream;
  const { signals } = texts;
  const facts = joinFacts(
    signals.deliveries[delivery],
    reason,
    failure !== null && signals.failure(failure),
    seenAt !== null && signals.seen(formatPast(seenAt)),
  );
  return (
    <>
      <dt>{signals.stream}</dt>
      <dd>
        <span class={`badge ${status === null ? '' : (TONES[status] ?? 'alarm')}`}>
          {status === null ? signals.unconnected : signals.statuses[status]}
        </span>
        <div class="hint">{facts}</div>
        <div class="code hint">{transmitter}</div>
      </dd>
    </>
  );
}

function People({ directory }: { readonly directory: Directory }) {
  const { people, active, matched, ambiguous, recentlyDeactivated, isRequired } = directory;
  const { signals } = texts;
  const facts = joinFacts(
    signals.active(formatCount(active)),
    signals.matched(formatCount(matched)),
    ambiguous > 0 && signals.ambiguous(formatCount(ambiguous)),
    recentlyDeactivated > 0 && signals.deactivated(formatCount(recentlyDeactivated)),
  );
  return (
    <>
      <dt>{signals.directory}</dt>
      <dd>
        {signals.people(formatCount(people), people)}{' '}
        {isRequired && <span class="badge">{texts.health.required}</span>}
        <div class="hint">{facts}</div>
      </dd>
    </>
  );
}

const PAGE = 25;

type Person = UnmatchedPage['people'][number];

interface UnmatchedProps extends Pick<ActionResult, 'notify'> {
  readonly provider: string;
  readonly count: number;
}

/** The people of a directory who match no identity. */
function UnmatchedPeople({ provider, count, notify }: UnmatchedProps) {
  const { client, caller } = useSession();
  const pages = usePages(async (cursor) => {
    const page = await client.unmatchedPeople(provider, {
      limit: PAGE,
      ...(cursor && { cursor }),
    });
    return { rows: page.people, cursor: page.cursor };
  }, `unmatched ${provider}`);
  const { live } = pages;
  const { signals } = texts;
  const columns = [signals.person, signals.state, signals.changed];
  return (
    <>
      <h3>{signals.unmatchedTitle(formatCount(count), count)}</h3>
      <p class="quiet">{signals.unmatchedLead}</p>
      <LiveNotice live={live} />
      {live.value !== null && (
        <ListTable headings={caller.role === 'operate' ? [...columns, signals.act] : columns}>
          {live.value.rows.map((person) => (
            <Row key={person.id} {...{ person, provider, notify }} reload={live.reload} />
          ))}
        </ListTable>
      )}
      <PageButtons pages={pages} />
    </>
  );
}

interface RowProps extends ActionResult {
  readonly person: Person;
  readonly provider: string;
}

function Row({ person, provider, ...result }: RowProps) {
  const { client, caller } = useSession();
  const { id, userName, externalId, isRefused, changedAt } = person;
  const { signals } = texts;
  return (
    <tr role="row">
      <td role="cell">
        <strong>{userName}</strong>
        {externalId !== null && <span class="code hint">{externalId}</span>}
      </td>
      <td role="cell" data-label={signals.state}>
        {stateOf(person)}
      </td>
      <td role="cell" data-label={signals.changed} class="whole-word">
        {formatPast(changedAt)}
      </td>
      {caller.role === 'operate' && (
        <td role="cell">
          {isRefused && (
            <ActionButton
              textsOf={() => texts.signals.endRefusal}
              label={signals.endRefusalOf(userName)}
              isSmall
              run={(reason) => client.endRefusal(provider, id, reason)}
              {...result}
            />
          )}
        </td>
      )}
    </tr>
  );
}

function stateOf({ isActive, isAmbiguous, isRefused }: Person): string {
  const { signals } = texts;
  if (isAmbiguous) {
    return signals.isAmbiguous(isActive ? signals.isActive : signals.isInactive);
  }
  if (isActive) {
    return isRefused ? signals.isRefused : signals.isActive;
  }
  return isRefused ? signals.isInactive : signals.isEnded;
}
