import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer, KEPT_OPEN, listen } from './local-server.js';
import { call, ENCODED, type Answer, type Json } from './client.js';
import type { Server } from '../fixtures/programs/server-fixture.js';

/** Addresses as a proxy reports them: look-ups are limited by address. */
export const BEHIND_PROXY = { SERVICE_TRUSTED_PROXIES: '127.0.0.1' };

/** A sealed account as the server sees it: opaque bytes. */
export const SEALED = randomBytes(400).toString('base64url');

export const hashOf = (proof: string): string => createHash('sha256').update(proof).digest('hex');

export function makeX25519Key(): string {
  return generateKeyPairSync('x25519', ENCODED).publicKey.subarray(-32).toString('base64url');
}

/** A new device that waits to be added. */
export interface NewDevice {
  readonly id: string;
  readonly userCode: string;
  readonly publicKey: string;
  readonly proof: string;
  readonly address: string;
}

let nextAddress = 0;

/** Returns an address that no other call has used. */
export function newAddress(): string {
  nextAddress += 1;
  return `10.7.${nextAddress >> 8}.${nextAddress & 255}`;
}

/** An unused address, as a trusted proxy forwards it. */
export const fromSomewhere = () => ({ 'x-forwarded-for': newAddress() });

/** The device routes of one server. Each call comes from a separate address. */
export class DeviceCalls {
  constructor(public server: Server) {}

  async newDevice(more: Json = {}): Promise<NewDevice> {
    const device = {
      publicKey: makeX25519Key(),
      proof: randomBytes(32).toString('hex'),
      address: newAddress(),
    };
    const answer = await this.request(
      { v: 2, publicKey: device.publicKey, proofHash: hashOf(device.proof), ...more },
      device.address,
    );
    const { id, userCode } = answer.body as { id: string; userCode: string };
    return { ...device, id, userCode };
  }

  request(body: unknown, address = newAddress()): Promise<Answer> {
    return call(this.server, 'POST', '/v2/auth/devices', { body, headers: from(address) });
  }

  find(userCode: string, token?: string, address = newAddress()): Promise<Answer> {
    const path = `/v2/auth/devices/${encodeURIComponent(userCode)}`;
    return call(this.server, 'GET', path, { token, headers: from(address) });
  }

  approve(id: string, token?: string, body: unknown = { sealed: SEALED }): Promise<Answer> {
    const headers = from(newAddress());
    return call(this.server, 'POST', `/v2/auth/devices/${id}/approve`, { token, body, headers });
  }

  refuse(id: string, token?: string): Promise<Answer> {
    return call(this.server, 'DELETE', `/v2/auth/devices/${id}`, { token });
  }

  claim(id: string, proof: unknown, more: Json = {}): Promise<Answer> {
    return call(this.server, 'POST', `/v2/auth/devices/${id}/token`, { body: { proof, ...more } });
  }

  /** Calls {@link claim} again after each refusal because it came too soon. */
  async claimInTime({ id, proof }: NewDevice): Promise<Answer> {
    for (;;) {
      const answer = await this.claim(id, proof);
      if (answer.status !== 429) {
        return answer;
      }
      await sleep(Number(answer.headers['retry-after']) * 1000);
    }
  }
}

const from = (address: string) => ({ 'x-forwarded-for': address });

/** A server behind a proxy. */
export interface Proxied {
  readonly url: string;
  /** Replaces the key of the device that was looked up; null leaves it. */
  swapKey(publicKey: string | null): void;
  stop(): Promise<void>;
}

/** A proxy that reports another address for each request: look-ups are limited by address. */
export async function startAddressProxy({ port }: Server): Promise<Proxied> {
  let swapped: string | null = null;
  const listener = createServer(KEPT_OPEN, (incoming, outgoing) => {
    const headers = { ...incoming.headers, ...from(newAddress()) };
    const { method, url: path } = incoming;
    const forwarded = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      void text(answer).then((body) => {
        const given = { ...answer.headers };
        delete given['content-length'];
        outgoing.writeHead(answer.statusCode ?? 502, given);
        outgoing.end(
          swapped === null ? body : body.replace(/("publicKey":)"[^"]*"/, `$1"${swapped}"`),
        );
      });
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return {
    url: `http://127.0.0.1:${await listen(listener)}`,
    swapKey: (publicKey) => (swapped = publicKey),
    stop: () => closeServer(listener),
  };
}
