import { maskedToken } from '../../notify/push-token.js';
import type { DeliveryEntry, SpoolEntry } from '../../notify/spool-entry.js';
import type { Ending } from '../../notify/spool-history.js';
import type { Claim } from '../../notify/spool.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { formatTime } from '../format-time.js';
import { notifyOptions } from './notify-options.js';
import { exitCodeOf, wordsOfLine } from './notify-report.js';
import { NotifyWork } from './notify-work.js';

/** What is known of an entry of the spool; `nextAt` where it waits, `ending` where it ended. */
interface Found {
  readonly entry: SpoolEntry;
  readonly nextAt: number | null;
  readonly ending: Ending | null;
}

const DEFAULT_LIMIT = 50;
const REDELIVERY_LASTS_MS = 15 * 60_000;

/** Lists what waits and what ended, newest first. */
export async function list(context: CliContext): Promise<number> {
  const { state, limit = DEFAULT_LIMIT } = notifyOptions(context);
  const found = (await everything(new NotifyWork(context)))
    .map(summary)
    .filter((one) => state === undefined || one.state === state)
    .slice(0, limit);
  const words = found.map(
    ({ at, id, kind, target, topic, ...rest }) =>
      `${formatTime(at)}  ${rest.state.padEnd(7)}  ${topic ?? kind}  ${kind} ${target}  ${id}${rest.why === null ? '' : `\n    ${rest.why}`}`,
  );
  context.output.result({ deliveries: found }, words.join('\n') || 'No deliveries.');
  return EXIT.ok;
}

/** Prints one entry with everything that is kept of it; no signing secret ever is. */
export async function show(context: CliContext): Promise<number> {
  const found = await find(new NotifyWork(context), context.args[0] ?? '');
  const { entry, nextAt, ending } = found;
  const value = { ...summary(found), entry: withoutToken(entry), nextAt, ending };
  context.output.result(value, JSON.stringify(value, null, 2));
  return EXIT.ok;
}

/** Sends a delivery again under its id, whatever became of it; it counts for 15 minutes. */
export async function redeliver(context: CliContext): Promise<number> {
  const work = new NotifyWork(context);
  try {
    const { entry } = await find(work, context.args[0] ?? '');
    if (entry.kind === 'receipt') {
      throw notFound(entry.id);
    }
    await work.runner.retry(await claimOf(work, entry));
    const line = work.lines.get(entry.id);
    if (line === undefined) {
      throw notFound(entry.id);
    }
    context.output.result(line, wordsOfLine(line));
    return exitCodeOf([line]);
  } finally {
    await work.senders.close();
  }
}

async function claimOf({ spool }: NotifyWork, entry: DeliveryEntry): Promise<Claim> {
  const waiting = (await spool.entries()).find((one) => one.entry.id === entry.id);
  if (waiting === undefined) {
    return spool.redeliver(entry, Date.now() + REDELIVERY_LASTS_MS);
  }
  const claim = await spool.claim(waiting.name);
  if (claim === null) {
    throw new CliError(`Another process is sending ${entry.id} right now.`, {
      exitCode: EXIT.refused,
      code: 'in-progress',
    });
  }
  return claim;
}

async function everything({ spool }: NotifyWork): Promise<readonly Found[]> {
  const waiting = (await spool.entries()).map(({ entry, name }): Found => {
    return { entry, nextAt: name.dueAt, ending: null };
  });
  const ended = (await spool.history.entries()).map((one): Found => ({ ...one, nextAt: null }));
  return [...waiting.sort((one, other) => (other.nextAt ?? 0) - (one.nextAt ?? 0)), ...ended];
}

async function find(work: NotifyWork, id: string): Promise<Found> {
  const found = (await everything(work)).find(({ entry }) => entry.id === id);
  if (found === undefined) {
    throw notFound(id);
  }
  return found;
}

function notFound(id: string): CliError {
  return new CliError(`There is no delivery ${id}.`, {
    exitCode: EXIT.refused,
    code: 'not-found',
    hint: 'See them all: gatehouse deliveries list',
  });
}

function summary({ entry, nextAt, ending }: Found) {
  const at = ending?.at ?? nextAt ?? 0;
  const why = ending === null ? (entry.lastError?.detail ?? null) : (ending.detail ?? ending.code);
  const state = ending?.state ?? 'waiting';
  const { id, attempts } = entry;
  return { id, ...subjectOf(entry), state, at, attempts, why };
}

function subjectOf(entry: SpoolEntry) {
  if (entry.kind === 'receipt') {
    return { kind: 'receipt', target: maskedToken(entry.token), topic: null };
  }
  const { kind, topic } = entry.delivery;
  const target =
    entry.delivery.kind === 'push' ? maskedToken(entry.delivery.token) : entry.delivery.channelId;
  return { kind, target, topic };
}

/** Who knows a whole token can send to that device, who knows some addresses can write there. */
function withoutToken(entry: SpoolEntry): object {
  if (entry.kind === 'receipt') {
    return { ...entry, token: maskedToken(entry.token) };
  }
  const { delivery } = entry;
  if (delivery.kind === 'webhook') {
    return { ...entry, delivery: { ...delivery, url: new URL(delivery.url).origin } };
  }
  const token = maskedToken(delivery.token);
  return {
    ...entry,
    delivery: { ...delivery, token, message: { ...delivery.message, to: token } },
  };
}
