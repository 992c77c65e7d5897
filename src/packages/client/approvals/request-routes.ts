import * as v from 'valibot';
import { isRequestId } from '../../../core/protocol/request-id.js';
import type { SealedRequest } from './account-requests.js';
import type { AskingServer, RequestState } from './ask-and-wait.js';
import type { ListedAnswer } from './judge-answers.js';
import { success } from '../api/api-client-answers.js';
import { Transport, type TransportOptions } from '../api/api-client-transport.js';
import { pathSegment } from '../api/path.js';
import { hideFromLogs } from '../hide-from-logs.js';

const PATH = '/v1/requests';

const ms = v.pipe(v.number(), v.safeInteger());
const answer = v.object({
  sessionId: v.string(),
  sessionName: v.nullish(v.string(), null),
  sealed: v.optional(v.string()),
  deny: v.optional(v.boolean()),
});
const summary = v.object({ id: v.string(), createdAt: ms, expiresAt: ms, sessionId: v.string() });
const stored = v.object({
  ...summary.entries,
  state: v.picklist(['open', 'answered', 'withdrawn', 'expired']),
  answers: v.array(answer),
  sealed: v.optional(v.string()),
  content: v.optional(v.unknown()),
});
const list = v.object({ requests: v.array(v.object({ ...summary.entries, answers: v.number() })) });

type Stored = v.InferOutput<typeof stored>;

/** An open request in the list of its account, without its content. */
export interface ListedRequest extends v.InferOutput<typeof summary> {
  /** Number of its answers. */
  readonly answers: number;
}

/** A request as the server has it. Nothing of it is believed before it opens. */
export interface StoredRequest extends RequestState, v.InferOutput<typeof summary> {
  /** undefined once the request is closed, and on an account without keys. */
  readonly sealed: string | undefined;
  /** The content of a request of an account without keys. */
  readonly content: unknown;
}

/** More than the longest wait of the server. */
const MARGIN_SECONDS = 15;

/** Requests of programs, and answers to them (`/v1/requests`). */
export class RequestRoutes implements AskingServer {
  private readonly transport: Transport;

  constructor(private readonly options: TransportOptions) {
    this.transport = new Transport(options);
    hideFromLogs(this, 'options');
  }

  /** Returns the same routes, whose calls end when `signal` aborts. */
  withSignal(signal: AbortSignal): RequestRoutes {
    return new RequestRoutes({ ...this.options, signal });
  }

  /** Also succeeds where the server has this request already. */
  async create({ request: { requestId: id, expiresAt }, sealed }: SealedRequest): Promise<void> {
    await this.transport.send('POST', PATH, summary, { body: { id, sealed, expiresAt } });
  }

  /** Stores the request of an account without keys, which the server can read. */
  async createPlain({ request }: Pick<SealedRequest, 'request'>): Promise<void> {
    const { requestId: id, expiresAt } = request;
    const body = { id, content: request, expiresAt };
    await this.transport.send('POST', PATH, summary, { body });
  }

  /** The open requests of the account, the oldest first. */
  async list(): Promise<readonly ListedRequest[]> {
    return (await this.transport.send('GET', PATH, list)).requests;
  }

  async read(id: string): Promise<StoredRequest> {
    return storedOf(await this.transport.send('GET', pathOf(id), stored));
  }

  async wait(id: string, waitSeconds: number): Promise<RequestState> {
    const timeoutMs = (waitSeconds + MARGIN_SECONDS) * 1000;
    const routes = new RequestRoutes({ ...this.options, timeoutMs });
    const path = `${pathOf(id)}?waitSeconds=${waitSeconds}`;
    return storedOf(await routes.transport.send('GET', path, stored));
  }

  /** @param sealed of `AccountRequests.sealAnswer`; refused with `already-answered` after another one */
  async answer(id: string, sealed: string): Promise<void> {
    await this.transport.send('POST', `${pathOf(id)}/answer`, success, { body: { sealed } });
  }

  /** Denies without the key: the asking program names the answer as unsigned. */
  async deny(id: string): Promise<void> {
    await this.transport.send('POST', `${pathOf(id)}/answer`, success, { body: { deny: true } });
  }

  async reject(id: string, session: string): Promise<void> {
    const path = `${pathOf(id)}/answers/${pathSegment(session)}`;
    await this.transport.send('DELETE', path, success);
  }

  async close(id: string, takenFrom: string | null): Promise<RequestState> {
    const query = takenFrom === null ? '' : `?answeredBy=${encodeURIComponent(takenFrom)}`;
    return storedOf(await this.transport.send('DELETE', `${pathOf(id)}${query}`, stored));
  }
}

/** @throws TypeError for a text that is no id of a request, which could select another route */
function pathOf(id: string): string {
  if (!isRequestId(id)) {
    throw new TypeError('The id of a request has 22 characters of base64url.');
  }
  return `${PATH}/${id}`;
}

function storedOf({ answers, sealed, content, ...facts }: Stored): StoredRequest {
  return { ...facts, sealed, content, answers: answers.map(listedOf) };
}

function listedOf({
  sessionId: session,
  sessionName,
  sealed,
}: Stored['answers'][number]): ListedAnswer {
  const from = { session, sessionName: sessionName ?? null };
  return sealed === undefined ? { deny: true, ...from } : { sealed, ...from };
}
