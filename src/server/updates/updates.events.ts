import type { Server, Socket } from 'socket.io';
import type { AccessChange, RequestChange } from '../auth/identity.events.js';
import type { Access } from '../auth/auth.service.js';
import type { AppError, ErrorBody } from '../../common/errors.js';

interface AccountUpdate {
  readonly t:
    | 'account-settings-changed'
    | 'push-tokens-changed'
    | 'identities-changed'
    | 'program-granted'
    | 'encryption-mode-changed';
}

interface RequestUpdate {
  readonly t: 'request-created' | 'request-answered' | 'request-closed';
  readonly requestId: string;
}

/** The content of an update for the clients of an account. */
export type UpdateBody = AccountUpdate | RequestUpdate;

export interface Update {
  readonly id: string;
  /** Increases by one per account: a client that sees a gap has missed an update. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly body: UpdateBody;
}

/** The first message on a connection, sent again when an update was lost between replicas. */
export interface Hello {
  readonly accountId: string;
  /** `seq` of the newest update: a client with an older one has missed some. */
  readonly seq: number;
}

/** A refusal on a live connection, which has no header for the retry delay. */
interface ConnectionRefusal extends ErrorBody {
  readonly retryAfterSeconds?: number;
}

export interface ServerEvents {
  hello: (hello: Hello) => void;
  update: (update: Update) => void;
  /** The server closes this connection after it. */
  closing: (reason: ConnectionRefusal) => void;
}

export interface ClientEvents {
  ping: (...args: unknown[]) => void;
}

interface ClusterEvents {
  'access-changed': (change: AccessChange) => void;
  'access-changes-missed': () => void;
  'request-changed': (change: RequestChange) => void;
}

interface ConnectionData {
  access: Access;
  /** True if the connection is checked again regardless of the last check. */
  isDue: boolean;
  /** `seq` of the newest update that was sent here, or contained in a `hello`. */
  sentSeq: number;
  /** `seq` of the account's newest update at the last check. */
  storedSeq: number;
}

export type UpdatesServer = Server<ClientEvents, ServerEvents, ClusterEvents, ConnectionData>;
export type UpdatesSocket = Socket<ClientEvents, ServerEvents, ClusterEvents, ConnectionData>;

/** Builds the error body of `closing` and `connect_error`. */
export function bodyOnConnection(refusal: AppError, requestId?: string): ConnectionRefusal {
  const { retryAfterSeconds } = refusal;
  return {
    ...refusal.toBody(requestId),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** The error of `connect_error`: `message` is the code, `data` the error shape (contract, Updates). */
export function connectError(
  refusal: AppError,
  requestId: string,
): Error & { readonly data: ConnectionRefusal } {
  return Object.assign(new Error(refusal.code), { data: bodyOnConnection(refusal, requestId) });
}
