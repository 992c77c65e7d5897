import { parseJson } from '../../../common/parse-json.js';
import { isRecord, recordOf } from '../../../core/protocol/is-record.js';
import { InvalidEvent, readEvent } from '../../../packages/notify/content/read-event.js';
import type {
  NotificationEvent,
  NotificationTopic,
} from '../../../packages/notify/content/notification-event.js';
import type { CliContext } from '../command.js';
import { usageError } from '../cli-error.js';
import { readInputFile, readStandardInput, decodeInput } from '../input.js';
import type { EventOptions } from './notify.command.js';

export interface EventInput {
  readonly events: readonly NotificationEvent[];
  /** A sentence for each invalid event, with its position. */
  readonly invalid: readonly string[];
}

/** @param hookEvents the events that a hook reports, in place of a file */
export async function readEventInput(
  { options }: CliContext<EventOptions>,
  topic: NotificationTopic | null,
  serverUrl: string,
  hookEvents?: readonly unknown[],
): Promise<EventInput> {
  const ofFile = options.eventFile === undefined ? [{}] : await eventsIn(options.eventFile);
  const given = hookEvents ?? ofFile;
  const events: NotificationEvent[] = [];
  const invalid: string[] = [];
  for (const [index, one] of given.entries()) {
    const place = given.length === 1 ? 'The event' : `Event ${index + 1}`;
    if (!isRecord(one)) {
      invalid.push(`${place} is not a JSON object.`);
      continue;
    }
    try {
      const flags = fromFlags(options, topic, recordOf(one['request']));
      const session = { ...recordOf(one['session']), ...flags.session };
      events.push(readEvent({ serverUrl, ...one, ...flags.event, session }, Date.now()));
    } catch (error) {
      invalid.push(`${place}: ${describeProblems(error, options)}`);
    }
  }
  return { events, invalid };
}

function fromFlags(
  options: EventOptions,
  topic: NotificationTopic | null,
  request: Readonly<Record<string, unknown>>,
) {
  const given = recordOf(request['details']);
  const details = present({
    command: options.command,
    filePath: options.filePath,
    explanation: options.explanation,
    plan: options.planText,
    url: options.url,
    searchQuery: options.search,
    questions: questionsOf(options),
  });
  const named = present({ requestId: options.request, toolName: options.tool });
  return {
    session: present({ sessionId: options.session, title: options.title }),
    event: present({
      topic: topic ?? undefined,
      id: options.id,
      messageText: options.message,
      metadata: metadataOf(options.metadata),
      request: { ...request, ...named, details: { ...given, ...details } },
    }),
  };
}

function questionsOf({ question, option = [], multiple, customAnswer }: EventOptions) {
  if (question === undefined) {
    return undefined;
  }
  const options = option.map((text) => {
    const [label = '', ...rest] = text.split('=');
    return { label, ...(rest.length > 0 && { description: rest.join('=') }) };
  });
  const allows = { allowsSeveral: multiple === true, allowsCustomAnswer: customAnswer === true };
  return [{ question, options, ...allows }];
}

function metadataOf(pairs: readonly string[] | undefined): Record<string, string> | undefined {
  const entries = pairs?.map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) {
      throw usageError(`--metadata takes name=value, and not "${pair}".`);
    }
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return entries && Object.fromEntries(entries);
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function eventsIn(path: string): Promise<readonly unknown[]> {
  const given = path === '-' ? await readStandardInput() : await readInputFile(path);
  const text = decodeInput(given);
  const whole = parseJson(text);
  if (whole !== undefined) {
    return Array.isArray(whole) ? (whole as unknown[]) : [whole];
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // An unparsable line becomes undefined, which is reported as invalid with its number.
  return lines.length === 0 ? [undefined] : lines.map(parseJson);
}

/** Options by the field that they set, for messages. */
const FLAGS: Readonly<Record<string, string>> = {
  'session.sessionId': '--session',
  'request.requestId': '--request',
  id: '--id',
  metadata: '--metadata',
};

function describeProblems(error: unknown, { eventFile }: EventOptions): string {
  if (!(error instanceof InvalidEvent)) {
    throw error;
  }
  return error.problems
    .map(({ path, message }) => {
      const flag = eventFile === undefined ? FLAGS[path] : undefined;
      return `${flag ?? path} ${message}`;
    })
    .join('; ');
}
