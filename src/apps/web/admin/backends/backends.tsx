import type { AdminResourceServers } from '../../../../packages/client/api/admin-client.js';
import { formatDate, formatDuration, formatPast } from '../../i18n/format.js';
import { formatCount } from '../format-count.js';
import { Head } from '../head.js';
import { texts } from '../i18n/texts.js';
import { reasonName } from '../policy/statements.js';
import { useProviderName } from '../provider-names.js';
import { useSession } from '../session.js';
import { Lesson } from '../lesson.js';
import { DataTable, ListTable } from '../tables.js';
import { LiveNotice, useLive } from '../use-live.js';
import { Section } from '../../ui/section.js';

type Backend = AdminResourceServers['resourceServers'][number];
type Stream = Backend['streams'][number];
type SigningKey = AdminResourceServers['keys'][number];

const FIRST_BACKEND = `[
  {
    "id": "relay",
    "name": "Relay",
    "resource": "https://relay.example.com",
    "client": { "secretFile": "relay-client-secret.txt" }
  }
]`;

/** Limit of the server's count of waiting events. */
const MAX_WAITING = 1000;

/** The backends that accept tokens of this server. */
export function Backends() {
  const { client } = useSession();
  const live = useLive(() => client.resourceServers(), 'backends');
  const { value } = live;
  return (
    <>
      <Head title={texts.nav.backends} live={live} />
      <LiveNotice live={live} />
      {value?.resourceServers.length === 0 && (
        <Lesson {...texts.backends} code={FIRST_BACKEND} page="docs/protect-a-backend.md" />
      )}
      {value?.resourceServers.map((backend) => (
        <Details key={backend.id} backend={backend} />
      ))}
      {value !== null && value.keys.length > 0 && <Keys keys={value.keys} />}
    </>
  );
}

function Details({ backend }: { readonly backend: Backend }) {
  const { id, name, resource, requireProviders, allowKeyless, claims } = backend;
  const { maxTokenSeconds, tokenAlg, requests, streams } = backend;
  const { backends } = texts;
  const nameOf = useProviderName();
  return (
    <Section id={`backend-${id}`} title={name}>
      <dl>
        <dt>{backends.address}</dt>
        <dd class="code">{resource}</dd>
        <dt>{backends.providers}</dt>
        <dd>
          {requireProviders.length === 0
            ? backends.noProviders
            : requireProviders.map(nameOf).join(', ')}
        </dd>
        <dt>{backends.accounts}</dt>
        <dd>{allowKeyless ? backends.everyAccount : backends.keyedAccounts}</dd>
        <dt>{backends.claims}</dt>
        <dd>{claims.length === 0 ? backends.noClaims : claims.join(', ')}</dd>
        <dt>{backends.tokens}</dt>
        <dd>{backends.lifetime(tokenAlg, formatDuration(maxTokenSeconds))}</dd>
      </dl>
      <Requests requests={requests} />
      <Streams streams={streams} />
    </Section>
  );
}

function Requests({ requests }: Pick<Backend, 'requests'>) {
  const { backends } = texts;
  if (requests.length === 0) {
    return <p class="quiet">{backends.noRequests}</p>;
  }
  return (
    <>
      <h3>{backends.sinceStart}</h3>
      <DataTable
        headings={[backends.request, backends.outcome, backends.count]}
        numbersFrom={2}
        label={backends.sinceStart}
      >
        {requests.map(({ request, outcome, reason, count }) => (
          <tr key={`${request} ${outcome} ${reason}`}>
            <th scope="row">{textOf(backends.requests, request)}</th>
            <td>
              {textOf(backends.outcomes, outcome)}
              {reason !== '' && ` (${reasonName(reason)})`}
            </td>
            <td class="number">{formatCount(count)}</td>
          </tr>
        ))}
      </DataTable>
    </>
  );
}

/** The streams of ended sessions, one for each instance of the backend that receives them. */
function Streams({ streams }: Pick<Backend, 'streams'>) {
  const { backends } = texts;
  if (streams.length === 0) {
    return <p class="quiet">{backends.noStreams}</p>;
  }
  return (
    <>
      <h3>{backends.streams}</h3>
      <ListTable
        headings={[backends.stream, backends.created, backends.lastPoll, backends.waiting]}
        number={backends.waiting}
      >
        {streams.map((stream) => (
          <StreamRow key={stream.id} stream={stream} />
        ))}
      </ListTable>
    </>
  );
}

function StreamRow({ stream }: { readonly stream: Stream }) {
  const { id, description, createdAt, polledAt, isPaused, waiting, oldestWaitingSeconds } = stream;
  const { backends } = texts;
  const polled = isPaused ? backends.paused(formatPast(polledAt)) : formatPast(polledAt);
  const count = formatCount(waiting);
  const counted = waiting < MAX_WAITING ? count : backends.atLeast(count);
  const oldestAt = Date.now() - oldestWaitingSeconds * 1000;
  return (
    <tr role="row">
      <td role="cell">
        <span class="code whole-word">{id.slice(0, 8)}</span>
        {description !== null && ` ${description}`}
      </td>
      <td role="cell" data-label={backends.created} class="whole-words">
        {formatDate(createdAt)}
      </td>
      <td role="cell" data-label={backends.lastPoll} class="whole-words">
        {polled}
      </td>
      <td role="cell" data-label={backends.waiting} class="number">
        {waiting === 0 ? counted : backends.since(counted, formatPast(oldestAt))}
      </td>
    </tr>
  );
}

/** A text that the table does not have, as of a newer server, stays as it is. */
function textOf(table: Readonly<Record<string, string>>, key: string): string {
  return Object.hasOwn(table, key) ? (table[key] ?? key) : key;
}

function Keys({ keys }: { readonly keys: readonly SigningKey[] }) {
  const { backends } = texts;
  return (
    <Section id="keys" title={backends.keys}>
      <p class="quiet">{backends.keysLead}</p>
      <DataTable
        headings={[backends.key, backends.algorithm, backends.signsFrom]}
        label={backends.keys}
      >
        {keys.map(({ kid, alg, signsFrom }) => (
          <tr key={kid}>
            <th scope="row" class="code whole-word">
              {kid.slice(0, 8)}
            </th>
            <td>{alg}</td>
            <td>{formatDate(signsFrom)}</td>
          </tr>
        ))}
      </DataTable>
    </Section>
  );
}
