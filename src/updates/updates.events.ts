import type { Server, Socket } from 'socket.io';
import type { AccessChange } from '../auth/access-changes.js';
import type { Access } from '../auth/auth.service.js';
import type { ClientScope } from '../policy/client-type.js';
import type { ConnectionRefusal } from './connection-refusal.js';

/** What an account's clients are told. */
export type UpdateBody =
  | { readonly t: 'account-settings-changed' }
  | { readonly t: 'push-tokens-changed' }
  | { readonly t: 'identities-changed' }
  | { readonly t: 'encryption-mode-changed' };

export interface Update {
  readonly id: string;
  /** Grows by one per account: a client that sees a gap has missed something. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly body: UpdateBody;
}

/**
 * Where the account's updates stand: the first thing a client hears, and again when an update was
 * lost on its way between replicas.
 */
export interface Hello {
  readonly accountId: string;
  /** `seq` of the newest update so far: a client that knows an older one has missed some. */
  readonly seq: number;
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
}

/** What a live connection carries. */
export interface ConnectionData {
  access: Access;
  scope: ClientScope;
  /** When storage was last asked whether the connection may stay, Unix milliseconds; 0 = never. */
  judgedAt: number;
  /** `seq` of the newest update that was sent or told of here. */
  toldSeq: number;
  /** Where the account's updates stood when storage was last asked. */
  storedSeq: number;
}

export type UpdatesServer = Server<ClientEvents, ServerEvents, ClusterEvents, ConnectionData>;
export type UpdatesSocket = Socket<ClientEvents, ServerEvents, ClusterEvents, ConnectionData>;
