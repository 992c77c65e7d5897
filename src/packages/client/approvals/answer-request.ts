import {
  isAllowedRemotely,
  readPlainRequest,
  type AgentRequest,
} from '../../../core/protocol/agent-request.js';
import { fitsRequest, type AnswerChoice } from '../../../core/protocol/request-answer.js';
import type { RequestRoutes, StoredRequest } from './request-routes.js';
import { nullIfNotFound } from '../api/problem.js';
import type { AccountRequests, OpenedRequest, SealRefusal } from './account-requests.js';

/** A request that may be shown and answered. */
export interface ShownableRequest extends OpenedRequest {
  readonly kind: 'opened';
  readonly stored: StoredRequest;
  /** False on an account without keys, and where this device has none: it can be denied only. */
  readonly isSealed: boolean;
}

/**
 * A request that is not shown. `other-server`: its server is neither the active nor a saved one, so
 * the person adds it or switches to it first (`routeNotification`). `closed`: it was answered
 * elsewhere, has expired or was withdrawn.
 */
export interface UnopenedRequest {
  readonly kind: 'closed' | 'no-key' | 'refused' | 'other-server';
  readonly id: string;
  readonly stored: StoredRequest | null;
  readonly refusal?: SealRefusal;
  /** The server of the request, with `other-server`. */
  readonly server?: string;
}

export interface OpenOptions {
  /** The keys of the account; null where this device has none. */
  readonly requests: AccountRequests | null;
  /** True for the active server and the saved ones, by any address under which the device knows them. */
  readonly isKnownServer: (serverUrl: string) => boolean | Promise<boolean>;
}

/**
 * Reads a request and opens it. A device with a key opens sealed content only, whatever the server
 * sends.
 */
export async function openRequest(
  routes: Pick<RequestRoutes, 'read'>,
  id: string,
  options: OpenOptions,
): Promise<ShownableRequest | UnopenedRequest> {
  const stored = await routes.read(id).catch(nullIfNotFound);
  if (stored === null || stored.state !== 'open') {
    return { kind: 'closed', id, stored };
  }
  const opened = await opening(stored, options);
  if ('kind' in opened) {
    return { id, stored, ...opened };
  }
  const { server } = opened.request;
  return (await options.isKnownServer(server))
    ? { kind: 'opened', stored, isSealed: stored.sealed !== undefined, ...opened }
    : { kind: 'other-server', id, stored, server };
}

/** Opens every open request of the account, the newest first. */
export async function openRequests(
  routes: Pick<RequestRoutes, 'read' | 'list'>,
  options: OpenOptions,
): Promise<readonly (ShownableRequest | UnopenedRequest)[]> {
  const opened: (ShownableRequest | UnopenedRequest)[] = [];
  for (const { id } of [...(await routes.list())].reverse()) {
    opened.push(await openRequest(routes, id, options));
  }
  return opened.filter(({ kind }) => kind !== 'closed');
}

/**
 * Answers a request that the person saw. Rejects with GatehouseProblem: `already-answered`,
 * `request-expired`.
 *
 * @throws TypeError where the request does not offer the choice, or is too long to be allowed remotely
 */
export async function answerRequest(
  routes: Pick<RequestRoutes, 'answer' | 'deny'>,
  requests: AccountRequests | null,
  { request, digest, isSealed }: ShownableRequest,
  choice: AnswerChoice,
): Promise<void> {
  const { requestId } = request;
  if (!fitsRequest(choice, request) || (choice === 'allow' && !isAllowedRemotely(request))) {
    throw new TypeError('The request does not offer this answer.');
  }
  if (requests !== null && isSealed) {
    const answer = { v: 1, requestId, digest, choice, decidedAt: Date.now() } as const;
    return routes.answer(requestId, await requests.sealAnswer(answer));
  }
  if (choice !== 'deny') {
    throw new TypeError('Without the key of the account a request can be denied only.');
  }
  return routes.deny(requestId);
}

async function opening(
  { id, sealed, content }: StoredRequest,
  { requests }: OpenOptions,
): Promise<OpenedRequest | Pick<UnopenedRequest, 'kind' | 'refusal'>> {
  if (requests !== null) {
    const opened = sealed === undefined ? 'not-authentic' : await requests.open(id, sealed);
    return typeof opened === 'string' ? { kind: 'refused', refusal: opened } : opened;
  }
  if (sealed !== undefined) {
    return { kind: 'no-key' };
  }
  const request: AgentRequest | null = readPlainRequest(content);
  return request?.requestId === id
    ? { request, digest: '' }
    : { kind: 'refused', refusal: 'other-form' };
}
