import { parseJson } from '../../../common/parse-json.js';
import { recordOf } from '../../../core/protocol/is-record.js';
import { maskedToken } from '../../../packages/notify/push/push-message.js';
import { withoutContent, type DeliveryEntry, type SpoolEntry } from '../spool/spool-entry.js';
import type { Ending } from '../../../packages/notify/delivery/delivery.js';
import type { SpooledDelivery } from '../spool/spool.js';
import type { CliContext } from '../command.js';
import { CliError, refusedError } from '../cli-error.js';
import { oneById } from '../one-by-id.js';
import { formatMinute, type Listing } from '../output.js';
import { describeLine, exitCodeOf } from './report.js';
import { withSenderSession, type SenderOptions, type SenderSession } from './sender-session.js';

/** A waiting entry with `nextAt`, or an ended one with `ending`. */
interface Found {
  readonly entry: SpoolEntry;
  readonly nextAt: number | null;
  readonly ending: Ending | null;
}

/** `msg_` and 48 random bits: show and redeliver find the delivery by them. */
const SHOWN_OF_ID = 12;

const LISTING: Listing<ReturnType<typeof summary>> = {
  fields: ['id', 'kind', 'target', 'topic', 'state', 'at', 'attempts', 'why'],
  columns: [
    ['TIME', ({ at }) => formatMinute(at)],
    ['STATE', ({ state }) => state],
    ['TOPIC', ({ topic }) => topic],
    ['TARGET', ({ kind, target }) => `${kind} ${target}`],
    ['ID', ({ id }) => id.slice(0, SHOWN_OF_ID)],
    ['WHY', ({ why }) => why],
  ],
  isCut: true,
  empty: 'No deliveries.',
};
const DEFAULT_LIMIT = 50;
const REDELIVERY_LASTS_MS = 15 * 60_000;

export async function list(
  context: CliContext<SenderOptions & { readonly state?: string; readonly limit?: number }>,
): Promise<void> {
  const { state, limit = DEFAULT_LIMIT } = context.options;
  await withSenderSession(context, async (sender) => {
    const found = (await allEntries(sender))
      .map(summary)
      .filter((one) => state === undefined || one.state === state)
      .slice(0, limit);
    await context.output.list(LISTING, found);
    const { damaged } = sender.spool;
    const names = await damaged.names();
    if (names.length > 0) {
      context.output.note(describeDamaged(names.length, damaged.directory));
    }
  });
}

export function describeDamaged(count: number, directory: string): string {
  const files = count === 1 ? '1 damaged file was' : `${count} damaged files were`;
  return `${files} found in the spool, and not sent: ${directory}`;
}

export async function show(context: CliContext): Promise<void> {
  const [id = ''] = context.args;
  const found = await withSenderSession(context, (sender) => find(sender, id));
  const { entry, nextAt, ending } = found;
  const value = { ...summary(found), entry: withoutToken(entry), nextAt, ending };
  context.output.result(value, JSON.stringify(value, null, 2));
}

/** Sends a delivery in any state again, under the same id; it is retried for 15 minutes. */
export function redeliver(context: CliContext): Promise<number> {
  const [begin = ''] = context.args;
  return withSenderSession(context, async (sender) => {
    const { entry } = await find(sender, begin);
    const { id } = entry;
    if (entry.kind !== 'delivery') {
      throw notFound(id);
    }
    const claim = await claimOf(sender, entry);
    await sender.spool.newest.forget(entry);
    await sender.engine.attemptNow([claim]);
    const line = sender.lines.get(id);
    if (line === undefined) {
      throw notFound(id);
    }
    context.output.result(line, describeLine(line));
    return exitCodeOf([line]);
  });
}

async function claimOf({ spool }: SenderSession, entry: DeliveryEntry): Promise<SpooledDelivery> {
  const waiting = (await spool.entries()).find((one) => one.entry.id === entry.id);
  if (waiting === undefined) {
    return spool.redeliver(entry, Date.now() + REDELIVERY_LASTS_MS);
  }
  const claim = await spool.claimDelivery(waiting.name);
  if (claim === null) {
    throw refusedError(`Another process is sending ${entry.id} right now.`, 'in-progress');
  }
  return claim;
}

async function allEntries({ spool }: SenderSession): Promise<readonly Found[]> {
  const waiting = (await spool.entries()).map(({ entry, name }): Found => {
    return { entry, nextAt: name.dueAt, ending: null };
  });
  const ended = (await spool.history.entries()).map((one): Found => ({ ...one, nextAt: null }));
  return [...waiting.sort((one, other) => (other.nextAt ?? 0) - (one.nextAt ?? 0)), ...ended];
}

/** @param begin of its id */
async function find(sender: SenderSession, begin: string): Promise<Found> {
  const all = await allEntries(sender);
  const rows = all.map((found) => ({ id: found.entry.id, found }));
  // One that is sent again may still be among the ended ones.
  const exact = rows.find(({ id }) => id === begin);
  return (exact ?? oneById(rows, begin, 'delivery', 'gatehouse deliveries')).found;
}

function notFound(id: string): CliError {
  return refusedError(
    `There is no delivery ${id}.`,
    'not-found',
    'See them all: gatehouse deliveries list',
  );
}

function summary({ entry, nextAt, ending }: Found) {
  const at = ending?.at ?? nextAt ?? 0;
  const why = ending === null ? (entry.lastError?.detail ?? null) : (ending.detail ?? ending.code);
  const state = ending?.state ?? 'waiting';
  const { id, attempts } = entry;
  return { id, ...subjectOf(entry), state, at, attempts, why };
}

function subjectOf(entry: Found['entry']) {
  if (entry.kind === 'receipt') {
    return { kind: 'receipt', target: maskedToken(entry.token), topic: null };
  }
  if (entry.kind === 'events') {
    const { events } = entry;
    const [{ topic } = { topic: null }] = events;
    return { kind: 'event', target: events.map(({ id }) => id).join(', '), topic };
  }
  const { kind, topic } = entry.delivery;
  const target =
    entry.delivery.kind === 'webhook'
      ? entry.delivery.channelId
      : maskedToken(entry.delivery.token);
  return { kind, target, topic };
}

/** A whole token, the topic of ntfy and the address of some webhooks authorize sending, so none is printed. */
function withoutToken(entry: Found['entry']): object {
  if (entry.kind === 'receipt') {
    return { ...entry, token: maskedToken(entry.token) };
  }
  if (entry.kind === 'events') {
    return withoutContent(entry);
  }
  const { delivery } = entry;
  if (delivery.kind === 'webhook') {
    const shown = { url: new URL(delivery.url).origin, body: withoutTopic(delivery.body) };
    return { ...entry, delivery: { ...delivery, ...shown } };
  }
  const token = maskedToken(delivery.token);
  const message = delivery.kind === 'push' && { message: { ...delivery.message, to: token } };
  return { ...entry, delivery: { ...delivery, token, ...message } };
}

/** Only the body of ntfy has a `sequence_id`. */
function withoutTopic(body: string): string {
  const fields = recordOf(parseJson(body));
  return 'sequence_id' in fields ? JSON.stringify({ ...fields, topic: '…' }) : body;
}
