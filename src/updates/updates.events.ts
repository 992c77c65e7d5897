import type { Server, Socket } from 'socket.io';
import type { AccessChange } from '../auth/identity-events.js';
import type { Access } from '../auth/auth.service.js';
import type { AppError, ErrorBody } from '../common/errors.js';

/** What changed for an account's clients. */
export interface UpdateBody {
  readonly t:
    | 'account-settings-changed'
    | 'push-tokens-changed'
    | 'identities-changed'
    | 'encryption-mode-changed';
}

export interface Update {
  readonly id: string;
  /** Grows by one per account: a client that sees a gap has missed something. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly body: UpdateBody;
}

/**
 * The number of the account's newest update: the first message on a connection, sent again when an
 * update was lost between replicas.
 */
export interface Hello {
  readonly accountId: string;
  /** `seq` of the newest update so far: a client that knows an older one has missed some. */
  readonly seq: number;
}

/** A refusal on a live connection, where no header can carry the time to retry. */
export interface ConnectionRefusal extends ErrorBody {
  readonly retryAfterSeconds?: number;
}

/** Server to client. */
export interface ServerEvents {
  hello: (hello: Hello) => void;
  update: (update: Update) => void;
  /** The server closes this connection right after it. */
  closing: (reason: ConnectionRefusal) => void;
}

/** Client to server. */
export interface ClientEvents {
  ping: (...args: unknown[]) => void;
}

/** Replica to replica. */
export interface ClusterEvents {
  'access-changed': (change: AccessChange) => void;
  'access-changes-missed': () => void;
}

/** What a live connection carries. */
export interface ConnectionData {
  access: Access;
  /** When storage was last asked whether the connection may stay, Unix milliseconds; 0 = never. */
  judgedAt: number;
  /** `seq` of the newest update that was sent here, or named by a `hello`. */
  sentSeq: number;
  /** `seq` of the account's newest update when storage was last asked. */
  storedSeq: number;
}

export type UpdatesServer = Server<ClientEvents, ServerEvents, ClusterEvents, ConnectionData>;
export type UpdatesSocket = Socket<ClientEvents, ServerEvents, ClusterEvents, ConnectionData>;

/** The error shape as `closing` and `connect_error` carry it. */
export function bodyOnConnection(refusal: AppError, requestId?: string): ConnectionRefusal {
  const { retryAfterSeconds } = refusal;
  return {
    ...refusal.toBody(requestId),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** What `connect_error` brings: `message` is the code, `data` the error shape (contract, Updates). */
export function connectError(
  refusal: AppError,
  requestId: string,
): Error & { readonly data: ConnectionRefusal } {
  return Object.assign(new Error(refusal.code), { data: bodyOnConnection(refusal, requestId) });
}
