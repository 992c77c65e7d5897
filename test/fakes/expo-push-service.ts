import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { closeServer, KEPT_OPEN, listen } from '../helpers/local-server.js';

export interface ReceivedMessage {
  readonly to: string;
  readonly title?: string;
  readonly body?: string;
  readonly ttl?: number;
  readonly collapseId?: string;
  readonly tag?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

interface Problem {
  readonly error: string;
  readonly expoPushToken?: string;
}

export type PushFault =
  | { readonly kind: 'status'; readonly status: number; readonly code?: string }
  | { readonly kind: 'accept-then-504' }
  | { readonly kind: 'accept-then-cut' }
  | { readonly kind: 'accept-after-continue' }
  | { readonly kind: 'fewer-tickets' }
  | { readonly kind: 'no-tickets' }
  | { readonly kind: 'no-errors' }
  | { readonly kind: 'portal' }
  | { readonly kind: 'silence' }
  | { readonly kind: 'endless-answer' }
  | { readonly kind: 'inflated-answer'; readonly bytes: number };

const API = '/--/api/v2/push';
const MAX_MESSAGE_BYTES = 4096;
const REQUEST_MESSAGES: Readonly<Record<string, string>> = {
  TOO_MANY_REQUESTS: 'Request rate limit exceeded.',
  UNAUTHORIZED: 'Insufficient permissions to send push notifications.',
};

export class FakePushService {
  readonly accepted: ReceivedMessage[] = [];
  readonly batches: number[] = [];
  readonly receiptBatches: number[] = [];
  /** The faults of the next requests, one for each. Later requests succeed. */
  readonly faults: PushFault[] = [];
  readonly ticketProblems = new Map<string, Problem>();
  /** The error of a receipt, by token; null means not ready. */
  readonly receiptProblems = new Map<string, Problem | null>();
  readonly projects = new Map<string, string>();
  accessToken: string | null = null;
  /** The answer to a request with these messages waits for it. */
  hold: (messages: readonly ReceivedMessage[]) => Promise<void> = async () => {};
  /** The size limit of the services of phones. The ticket of a larger message reports it. */
  maxMessageBytes = MAX_MESSAGE_BYTES;
  /** The address, which stays the same after closing and then refuses connections. */
  url = '';
  private readonly tokenOfReceipt = new Map<string, string>();
  private readonly server = createServer(KEPT_OPEN, (request, response) => {
    void this.answer(request, response);
  });

  static async start(): Promise<FakePushService> {
    const service = new FakePushService();
    service.url = `http://127.0.0.1:${await listen(service.server)}`;
    return service;
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = await readJson(request);
    const fault = this.faults.shift();
    if (request.url === `${API}/send` && Array.isArray(body)) {
      this.batches.push(body.length);
      await this.hold(body as ReceivedMessage[]);
      this.send(request, response, body as ReceivedMessage[], fault);
    } else if (request.url === `${API}/getReceipts`) {
      this.receipts(response, (body as { ids: string[] }).ids, fault);
    } else {
      reply(response, 404, { errors: [{ code: 'NOT_FOUND', message: 'Not found' }] });
    }
  }

  private send(
    request: IncomingMessage,
    response: ServerResponse,
    messages: readonly ReceivedMessage[],
    fault: PushFault | undefined,
  ): void {
    if (fault !== undefined && !fault.kind.startsWith('accept') && fault.kind !== 'fewer-tickets') {
      this.misbehave(response, fault);
      return;
    }
    if (this.accessToken !== null && !isBearer(request, this.accessToken)) {
      refuse(response, 401, 'UNAUTHORIZED');
    } else if (messages.length > 100) {
      refuse(response, 400, 'PUSH_TOO_MANY_NOTIFICATIONS');
    } else if (this.refusesMixture(response, messages)) {
      return;
    } else {
      this.accept(response, messages, fault);
    }
  }

  private accept(
    response: ServerResponse,
    messages: readonly ReceivedMessage[],
    fault: PushFault | undefined,
  ): void {
    const tickets = messages.map((message) => this.ticketFor(message));
    if (fault?.kind === 'accept-then-504') {
      reply(response, 504, 'upstream request timeout');
    } else if (fault?.kind === 'accept-then-cut') {
      response.destroy();
    } else if (fault?.kind === 'accept-after-continue') {
      response.writeContinue();
      reply(response, 200, { data: tickets });
    } else {
      reply(response, 200, { data: fault === undefined ? tickets : tickets.slice(1) });
    }
  }

  private ticketFor(message: ReceivedMessage): object {
    const problem = this.ticketProblems.get(message.to);
    if (problem !== undefined) {
      return problemOf(problem);
    }
    if (Buffer.byteLength(JSON.stringify(message)) > this.maxMessageBytes) {
      return problemOf({ error: 'MessageTooBig' });
    }
    this.accepted.push(message);
    const id = randomUUID();
    this.tokenOfReceipt.set(id, message.to);
    return { status: 'ok', id };
  }

  private refusesMixture(response: ServerResponse, messages: readonly ReceivedMessage[]): boolean {
    const details: Record<string, string[]> = {};
    for (const { to } of messages) {
      (details[this.projects.get(to) ?? '@acme/app'] ??= []).push(to);
    }
    const isMixed = Object.keys(details).length > 1;
    if (isMixed) {
      refuse(response, 400, 'PUSH_TOO_MANY_EXPERIENCE_IDS', details);
    }
    return isMixed;
  }

  private receipts(response: ServerResponse, ids: readonly string[], fault?: PushFault): void {
    this.receiptBatches.push(ids.length);
    if (fault !== undefined) {
      this.misbehave(response, fault);
      return;
    }
    const data: Record<string, object> = {};
    for (const id of ids) {
      const token = this.tokenOfReceipt.get(id);
      const problem = this.receiptProblems.get(token ?? '');
      if (token !== undefined && problem !== null) {
        data[id] = problem === undefined ? { status: 'ok' } : problemOf(problem);
      }
    }
    reply(response, 200, { data });
  }

  private misbehave(response: ServerResponse, fault: PushFault): void {
    if (fault.kind === 'status') {
      const { status, code } = fault;
      return code === undefined ? reply(response, status, 'oops') : refuse(response, status, code);
    }
    if (fault.kind === 'portal') {
      reply(response, 200, '<html>Sign in to the hotel network</html>');
    } else if (fault.kind === 'no-tickets') {
      reply(response, 200, {});
    } else if (fault.kind === 'no-errors') {
      reply(response, 200, { errors: [] });
    } else if (fault.kind === 'endless-answer') {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 10);
      response.once('close', () => clearInterval(drip));
    } else if (fault.kind === 'inflated-answer') {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(fault.bytes, ' ')));
    }
  }
}

function problemOf({ error, expoPushToken }: Problem): object {
  const details = { error, ...(expoPushToken !== undefined && { expoPushToken }) };
  return { status: 'error', message: `It went wrong: ${error}`, details };
}

function refuse(response: ServerResponse, status: number, code: string, details?: object): void {
  const error = { code, message: REQUEST_MESSAGES[code] ?? code, ...(details && { details }) };
  reply(response, status, { errors: [error] });
}

function reply(response: ServerResponse, status: number, body: object | string): void {
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': type });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function isBearer(request: IncomingMessage, token: string): boolean {
  return request.headers.authorization === `Bearer ${token}`;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const bytes = await buffer(request);
  const isZipped = request.headers['content-encoding'] === 'gzip';
  return JSON.parse((isZipped ? gunzipSync(bytes) : bytes).toString());
}
