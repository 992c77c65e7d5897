import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { decodeJwt, type JWTPayload } from 'jose';
import pushApi from 'web-push-testing/src/PushApiModel.js';
import { formatWebPushToken } from '../../src/packages/client/notifications/web-push.js';
import type { IssuedCertificate } from '../fixtures/certificates-fixture.js';
import { closeServer, KEPT_OPEN, listen } from '../helpers/local-server.js';

/** A message as the push service receives it, which cannot decrypt it. */
export interface ReceivedPush {
  readonly ttl: number;
  readonly urgency: string | undefined;
  readonly topic: string | undefined;
  /** Claims that the sender signed (RFC 8292). */
  readonly claims: JWTPayload;
  readonly size: number;
  readonly body: Buffer;
}

export interface PushFault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const MAX_BODY_BYTES = 4096;
const TOPIC = /^[\w-]{1,32}$/;
const LONGEST_SIGNATURE_SECONDS = 86_400;

/** Speaks RFC 8030 over TLS on loopback. web-push-testing checks signatures and decrypts. */
export class FakeWebPushService {
  readonly received: ReceivedPush[] = [];
  readonly refusals: string[] = [];
  /** The faults of the next requests, one for each. Later requests succeed. */
  readonly faults: PushFault[] = [];
  private readonly browsers = new pushApi.PushApiModel();
  private readonly server: Server;

  private constructor(certificate: Pick<IssuedCertificate, 'cert' | 'key'>) {
    const { cert, key } = certificate;
    this.server = createServer({ ...KEPT_OPEN, cert, key }, (request, response) => {
      void this.answer(request, response);
    });
  }

  /** @param certificate of `127.0.0.1` */
  static async start(
    certificate: Pick<IssuedCertificate, 'cert' | 'key'>,
  ): Promise<FakeWebPushService> {
    const service = new FakeWebPushService(certificate);
    await listen(service.server);
    service.browsers.notifyUrl = `${service.origin}/push/`;
    return service;
  }

  get origin(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Subscribes as `pushManager.subscribe` of a browser does, and returns the JSON. */
  async subscribe(applicationServerKey: string) {
    const { endpoint, keys } = await this.browsers.subscribe({ applicationServerKey });
    return { endpoint, expirationTime: null, keys };
  }

  async register(applicationServerKey: string): Promise<string> {
    return formatWebPushToken(await this.subscribe(applicationServerKey)) ?? '';
  }

  expire(endpoint: string): void {
    this.browsers.expireSubscription(hashIn(endpoint));
  }

  messagesOf(endpoint: string): readonly string[] {
    return this.browsers.messages[hashIn(endpoint)] ?? [];
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const fault = this.faults.shift();
    if (fault !== undefined) {
      response.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    response.writeHead(await this.accept(request, body)).end();
  }

  private async accept({ url = '', headers }: IncomingMessage, body: Buffer): Promise<number> {
    const hash = hashIn(url);
    if (body.length > MAX_BODY_BYTES) {
      return 413;
    }
    const { ttl, urgency, topic, authorization } = headers as Record<string, string | undefined>;
    try {
      const claims = decodeJwt(/^vapid t=([^,]+),/.exec(authorization ?? '')?.[1] ?? '');
      this.requireRfc8292(claims);
      if (topic !== undefined && !TOPIC.test(topic)) {
        throw new Error(`a topic of ${topic}`);
      }
      const encoding = headers['content-encoding'];
      await this.browsers.handleNotification(hash, { encoding, authorization, ttl }, body);
      this.received.push({ ttl: Number(ttl), urgency, topic, claims, size: body.length, body });
      return 201;
    } catch (error) {
      this.refusals.push(String(error));
      return this.browsers.isSubscriptionExpired(hash) ? 410 : 403;
    }
  }

  private requireRfc8292({ aud, exp = 0, sub = '' }: JWTPayload): void {
    const leftSeconds = exp - Date.now() / 1000;
    const isTimely = leftSeconds > 0 && leftSeconds <= LONGEST_SIGNATURE_SECONDS;
    if (aud !== this.origin || !isTimely || !/^(mailto:.+@.|https:\/\/.)/.test(sub)) {
      throw new Error(`signed for ${String(aud)} by ${sub}, for ${leftSeconds} s`);
    }
  }
}

function hashIn(endpoint: string): string {
  return endpoint.slice(endpoint.lastIndexOf('/') + 1);
}
