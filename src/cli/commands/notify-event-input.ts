import { isRecord } from '../../client/problem.js';
import { InvalidEvent, readEvent } from '../../notify/read-event.js';
import type { NotificationEvent, NotificationTopic } from '../../notify/notification-event.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { MOST_GIVEN_BYTES, readGivenFile } from '../given-file.js';
import { notifyOptions, type NotifyCliOptions } from './notify-options.js';

export interface EventInput {
  readonly events: readonly NotificationEvent[];
  /** What could not be read, in words; each names the event by its place. */
  readonly refused: readonly string[];
}

/**
 * The events that a command is about: of its flags, or of --event-file as JSON, one object or one a
 * line. What the flags say counts where both do.
 *
 * @param topic null = the file says it
 */
export async function readEventInput(
  context: CliContext,
  topic: NotificationTopic | null,
  serverUrl: string,
): Promise<EventInput> {
  const options = notifyOptions(context);
  const given = options.eventFile === undefined ? [{}] : await eventsIn(options.eventFile);
  const events: NotificationEvent[] = [];
  const refused: string[] = [];
  for (const [index, one] of given.entries()) {
    const place = given.length === 1 ? 'The event' : `Event ${index + 1}`;
    if (!isRecord(one)) {
      refused.push(`${place} is no JSON object.`);
      continue;
    }
    try {
      const flags = fromFlags(options, topic, isRecord(one['request']) ? one['request'] : {});
      const session = { ...(isRecord(one['session']) ? one['session'] : {}), ...flags.session };
      events.push(readEvent({ serverUrl, ...one, ...flags.event, session }, Date.now()));
    } catch (error) {
      refused.push(`${place}: ${wordsOf(error, options)}`);
    }
  }
  return { events, refused };
}

function fromFlags(
  options: NotifyCliOptions,
  topic: NotificationTopic | null,
  request: Readonly<Record<string, unknown>>,
) {
  const given = isRecord(request['details']) ? request['details'] : {};
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

function questionsOf({ question, option = [], multiple, customAnswer }: NotifyCliOptions) {
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
  return (
    pairs &&
    Object.fromEntries(
      pairs.map((pair) => {
        const at = pair.indexOf('=');
        if (at < 1) {
          const words = `--metadata takes name=value, and not "${pair}".`;
          throw new CliError(words, { exitCode: EXIT.usage, code: 'usage' });
        }
        return [pair.slice(0, at), pair.slice(at + 1)];
      }),
    )
  );
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function eventsIn(path: string): Promise<readonly unknown[]> {
  const given = path === '-' ? await readStandardInput() : await readGivenFile(path);
  const text = given.toString('utf8');
  const whole = parse(text);
  if (whole !== undefined) {
    return [whole];
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // Undefined is no record: the line is refused by its number, the others go.
  return lines.length === 0 ? [undefined] : lines.map(parse);
}

async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_GIVEN_BYTES) {
      throw new CliError('Standard input holds more than 16 MiB.', {
        exitCode: EXIT.usage,
        code: 'usage',
      });
    }
  }
  return Buffer.concat(chunks);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The flag stands beside the field, for who gave flags. */
const FLAGS: Readonly<Record<string, string>> = {
  'session.sessionId': '--session',
  'request.requestId': '--request',
  id: '--id',
  metadata: '--metadata',
};

function wordsOf(error: unknown, { eventFile }: NotifyCliOptions): string {
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
