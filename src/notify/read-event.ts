import { randomUUID } from 'node:crypto';
import { parseServerUrl } from '../client/api-client-transport.js';
import { isRecord } from '../client/problem.js';
import type { EventRequest, NotificationEvent, NotificationTopic } from './notification-event.js';
import { utf8Length } from './shorten.js';
import { readRequestDetails } from './tool-input.js';

/** One thing that is wrong with an input, and what would be right. */
export interface InputProblem {
  readonly path: string;
  readonly message: string;
}

/** An event that cannot be sent as it stands. Lists everything that is wrong with it. */
export class InvalidEvent extends Error {
  override readonly name = 'InvalidEvent';

  constructor(readonly problems: readonly InputProblem[]) {
    super(problems.map(({ path, message }) => `${path} ${message}`).join('; '));
  }
}

const TOPICS: readonly NotificationTopic[] = ['ready', 'permission_request', 'user_action_request'];
/** Ids and the server's address travel whole in a push of 4096 bytes: they must leave room. */
const ID = /^[\x21-\x7e]{1,128}$/;
const MAX_URL_CHARACTERS = 512;
const MAX_METADATA_BYTES = 2048;
const MAX_TITLE_CHARACTERS = 10_000;
const ID_WORDS = 'must be 1 to 128 printable ASCII characters without spaces';

/**
 * Reads an event from JSON: `{topic, serverUrl, session: {sessionId, title?}, request?: {requestId,
 * toolName?, details?}, messageText?, id?, createdAt?, metadata?}`. `details` is a tool's input (see
 * `readRequestDetails`).
 *
 * @throws InvalidEvent
 */
export function readEvent(input: unknown, now: number): NotificationEvent {
  const problems: InputProblem[] = [];
  const reader = new Reader(isRecord(input) ? input : {}, '', problems);
  const topic = TOPICS.find((known) => known === reader.value('topic'));
  if (topic === undefined) {
    reader.complain('topic', `must be one of ${TOPICS.join(', ')}`);
  }
  const session = reader.inner('session');
  const isRequest = topic !== undefined && topic !== 'ready';
  const event = {
    id: reader.value('id') === undefined ? randomUUID() : reader.id('id'),
    topic: topic ?? 'ready',
    createdAt: reader.time('createdAt', now),
    serverUrl: serverUrlIn(reader),
    session: { sessionId: session.id('sessionId'), title: session.text('title') ?? '' },
    request: isRequest ? requestIn(reader.inner('request')) : null,
    messageText: topic === 'ready' ? reader.text('messageText') : null,
    metadata: metadataIn(reader),
  };
  if (problems.length > 0) {
    throw new InvalidEvent(problems);
  }
  return event;
}

function requestIn(reader: Reader): EventRequest {
  return {
    requestId: reader.id('requestId'),
    toolName: reader.text('toolName') ?? '',
    details: readRequestDetails(reader.value('details')),
  };
}

function serverUrlIn(reader: Reader): string {
  const url = parseServerUrl(reader.text('serverUrl') ?? '');
  if (url === null || url.length > MAX_URL_CHARACTERS) {
    const words = `must be the web address of the server, up to ${MAX_URL_CHARACTERS} characters`;
    return reader.complain('serverUrl', words);
  }
  return url;
}

function metadataIn(reader: Reader): NotificationEvent['metadata'] {
  const value = reader.value('metadata') ?? {};
  if (isMetadata(value) && utf8Length(JSON.stringify(value)) <= MAX_METADATA_BYTES) {
    return value;
  }
  const words = `must be an object of texts, numbers and booleans, up to ${MAX_METADATA_BYTES} bytes`;
  reader.complain('metadata', words);
  return {};
}

function isMetadata(value: unknown): value is NotificationEvent['metadata'] {
  const isPlain = (entry: unknown) => ['string', 'number', 'boolean'].includes(typeof entry);
  return isRecord(value) && Object.values(value).every(isPlain);
}

/** The fields of one object, with their path in every complaint. */
class Reader {
  constructor(
    private readonly fields: Readonly<Record<string, unknown>>,
    private readonly path: string,
    private readonly problems: InputProblem[],
  ) {}

  value(name: string): unknown {
    return this.fields[name];
  }

  inner(name: string): Reader {
    const value = this.fields[name];
    return new Reader(isRecord(value) ? value : {}, `${this.path}${name}.`, this.problems);
  }

  text(name: string): string | null {
    const value = this.fields[name] ?? null;
    if (value !== null && typeof value !== 'string') {
      return this.complain(name, 'must be text');
    }
    return name === 'title' ? (value?.slice(0, MAX_TITLE_CHARACTERS) ?? null) : value;
  }

  id(name: string): string {
    const value = this.fields[name];
    return typeof value === 'string' && ID.test(value) ? value : this.complain(name, ID_WORDS);
  }

  time(name: string, otherwise: number): number {
    const value = this.fields[name] ?? otherwise;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
      return value;
    }
    this.complain(name, 'must be a time in Unix milliseconds');
    return otherwise;
  }

  complain(name: string, message: string): string {
    this.problems.push({ path: `${this.path}${name}`, message });
    return '';
  }
}
