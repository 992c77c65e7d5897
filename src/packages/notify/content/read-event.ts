import * as v from 'valibot';
import { parseServerUrl } from '../../client/api/server-url.js';
import { isRecord, recordOf } from '../../../core/protocol/is-record.js';
import { EXPLANATION_NAMES } from '../../client/notifications/notification-text.js';
import type {
  NotificationEvent,
  NotificationTopic,
  Question,
  QuestionOption,
  RequestDetails,
} from './notification-event.js';
import { utf8Length } from './text.js';

export interface InputProblem {
  readonly path: string;
  readonly message: string;
}

export class InvalidEvent extends Error {
  override readonly name = 'InvalidEvent';

  constructor(readonly problems: readonly InputProblem[]) {
    super(problems.map(({ path, message }) => `${path} ${message}`).join('; '));
  }
}

const TOPICS: readonly NotificationTopic[] = ['ready', 'permission_request', 'user_action_request'];
const MAX_URL_CHARACTERS = 512;
const MAX_METADATA_BYTES = 2048;
const MAX_TITLE_CHARACTERS = 10_000;

const ID_RULE = 'must be 1 to 128 printable ASCII characters without spaces';
/** Ids and the server's address are sent in full in a push of 4096 bytes. */
const ID = v.pipe(v.string(ID_RULE), v.regex(/^[\x21-\x7e]{1,128}$/, ID_RULE));
const TEXT = v.nullish(v.string('must be text'), '');
/** September 2001. A smaller value was given in seconds, and would be an event of 1970. */
const EARLIEST_TIME = 1_000_000_000_000;
const TIME_RULE = 'must be a time in Unix milliseconds (13 digits), not in seconds';
const URL_RULE = `must be the web address of the server, up to ${MAX_URL_CHARACTERS} characters`;
const METADATA_RULE = `must be an object of texts, numbers and booleans, up to ${MAX_METADATA_BYTES} bytes`;

/** A missing field is refused with the message of its own rule. */
const required = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.optional(v.pipe(v.unknown(), schema), null);
const fields = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(v.unknown(), v.transform(recordOf), v.object(entries));

const COMMON = {
  id: v.optional(ID, () => crypto.randomUUID()),
  topic: required(v.picklist(TOPICS, `must be one of ${TOPICS.join(', ')}`)),
  createdAt: v.nullish(
    v.pipe(v.number(TIME_RULE), v.safeInteger(TIME_RULE), v.minValue(EARLIEST_TIME, TIME_RULE)),
  ),
  serverUrl: required(
    v.pipe(
      v.string(URL_RULE),
      v.transform(parseServerUrl),
      v.string(URL_RULE),
      v.maxLength(MAX_URL_CHARACTERS, URL_RULE),
    ),
  ),
  session: required(fields({ sessionId: required(ID), title: TEXT })),
  metadata: v.nullish(v.custom<NotificationEvent['metadata']>(isMetadata, METADATA_RULE), {}),
};
const READY = fields({ ...COMMON, messageText: v.nullish(v.string('must be text'), null) });
const REQUEST = fields({
  ...COMMON,
  request: required(
    fields({
      requestId: required(ID),
      digest: v.optional(ID),
      toolName: TEXT,
      details: required(v.pipe(v.unknown(), v.transform(readRequestDetails))),
    }),
  ),
});

/**
 * Reads an event from JSON: `{topic, serverUrl, session: {sessionId, title?}, request?: {requestId,
 * toolName?, details?}, messageText?, id?, createdAt?, metadata?}`, `details` as in
 * `readRequestDetails`.
 * @throws InvalidEvent
 */
export function readEvent(input: unknown, now: number): NotificationEvent {
  const { topic } = recordOf(input);
  const isRequest = TOPICS.some((known) => known === topic) && topic !== 'ready';
  const event = isRequest
    ? { messageText: null, ...parsed(REQUEST, input) }
    : { request: null, ...parsed(READY, input) };
  const { sessionId, title } = event.session;
  const session = { sessionId, title: title.slice(0, MAX_TITLE_CHARACTERS) };
  return { ...event, session, createdAt: event.createdAt ?? now };
}

function parsed<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
): v.InferOutput<Schema> {
  const { success, output, issues } = v.safeParse(schema, input, { abortPipeEarly: true });
  if (success) {
    return output;
  }
  throw new InvalidEvent(
    issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', message: issue.message })),
  );
}

function isMetadata(value: unknown): boolean {
  const isPlain = (entry: unknown) => ['string', 'number', 'boolean'].includes(typeof entry);
  return (
    isRecord(value) &&
    Object.values(value).every(isPlain) &&
    utf8Length(JSON.stringify(value)) <= MAX_METADATA_BYTES
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** Names that programs use for each field; the first one with text counts. */
const NAMES = {
  command: ['command', 'cmd'],
  filePath: ['filePath', 'file_path', 'notebook_path', 'path'],
  explanation: EXPLANATION_NAMES,
  plan: ['plan'],
  historyImport: ['historyImport', 'history_import'],
  url: ['url'],
  searchQuery: ['searchQuery', 'search_query', 'query'],
} as const satisfies Record<Exclude<keyof RequestDetails, 'questions'>, readonly string[]>;

const MOST_QUESTIONS = 20;
const MOST_OPTIONS = 50;

/** Drops unknown fields, so that raw input is never sent (specification, Events 4). Never fails. */
export function readRequestDetails(input: unknown): RequestDetails {
  const fields = recordOf(input);
  const text = (name: keyof typeof NAMES) => textUnder(fields, NAMES[name]);
  return {
    command: text('command') ?? commandLine(fields['command']),
    filePath: text('filePath') ?? patchedPaths(fields),
    explanation: text('explanation'),
    questions: questionsIn(fields),
    plan: text('plan'),
    historyImport: text('historyImport'),
    url: text('url'),
    searchQuery: text('searchQuery'),
  };
}

function commandLine(value: unknown): string | null {
  const isList = Array.isArray(value) && value.every((part) => typeof part === 'string');
  return isList && value.length > 0 ? value.join(' ') : null;
}

/** Names under which tools that apply a patch give its files: an object by path, or a list. */
const PATCHES = ['changes', 'fileChanges', 'file_changes'] as const;

/** Returns the paths that a patch changes, in its order. */
function patchedPaths(fields: Fields): string | null {
  const patch = PATCHES.map((name) => fields[name]).find((value) => value !== undefined);
  const paths = Array.isArray(patch)
    ? patch.map((one) => (typeof one === 'string' ? one : textUnder(recordOf(one), NAMES.filePath)))
    : Object.keys(recordOf(patch));
  const named = paths.filter((path) => path !== null && path.trim() !== '');
  return named.length === 0 ? null : named.join(', ');
}

function questionsIn(fields: Fields): Question[] {
  const list: unknown[] = Array.isArray(fields['questions']) ? fields['questions'] : [fields];
  return list.slice(0, MOST_QUESTIONS).flatMap((entry) => {
    const question = isRecord(entry) ? questionIn(entry) : null;
    return question === null ? [] : [question];
  });
}

function questionIn(fields: Fields): Question | null {
  const text = textUnder(fields, ['question', 'text']);
  if (text === null) {
    return null;
  }
  const options: unknown[] = Array.isArray(fields['options']) ? fields['options'] : [];
  return {
    text,
    options: options.slice(0, MOST_OPTIONS).flatMap(optionIn),
    allowsSeveral: isOn(fields, ['allowsSeveral', 'multiSelect', 'multiple']),
    allowsCustomAnswer: isOn(fields, ['allowsCustomAnswer', 'allowCustom', 'custom']),
  };
}

function optionIn(entry: unknown): QuestionOption[] {
  if (typeof entry === 'string' && entry !== '') {
    return [{ label: entry, description: null }];
  }
  const label = isRecord(entry) ? textUnder(entry, ['label', 'value']) : null;
  const description = isRecord(entry) ? textUnder(entry, ['description']) : null;
  return label === null ? [] : [{ label, description }];
}

function textUnder(fields: Fields, names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string' && value.trim() !== '') {
      return value;
    }
  }
  return null;
}

function isOn(fields: Fields, names: readonly string[]): boolean {
  return names.some((name) => fields[name] === true);
}
