import { once } from 'node:events';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import {
  certificateDirectory,
  TestAuthority,
  upn,
  type IssuedCertificate,
} from '../fakes/certificates.js';
import type { Json } from '../helpers/client.js';
import { startServer, type Server } from '../helpers/server.js';
import { mtlsEnv } from './mtls-world.js';

export const directory = certificateDirectory();
export const volume = join(directory.path, 'volume');
export const root = TestAuthority.root(directory.path, 'Acme Root');
export const issuing = root.intermediate('Acme Issuing CA');
const host = root.issue({ subject: '/CN=gate', names: ['IP:127.0.0.1'], usage: 'serverAuth' });
export const alice = issuing.issue({
  names: ['email:alice@corp.example', upn('alice@ad.example')],
});
export const bob = issuing.issue({ names: ['email:bob@corp.example'] });

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** With the intermediate, as a client has to send it. */
export const chained = (own: IssuedCertificate) => ({
  cert: own.cert + issuing.cert,
  key: own.key,
});

export const revocationLists = (): string => issuing.revocationList() + root.revocationList();

/** What the server begins with. */
export const files: Readonly<Record<string, string>> = {
  'tls.crt': host.cert,
  'tls.key': host.key,
  'ca.crt': root.cert,
  'crl.pem': revocationLists(),
};

/** Swaps all files at once, as Kubernetes does: `..data` is a link, and a new one is moved over it. */
export function publish(contents: Readonly<Record<string, string>>, version: string): void {
  const target = join(volume, `..${version}`);
  mkdirSync(target, { recursive: true });
  for (const [name, text] of Object.entries(contents)) {
    writeFileSync(join(target, name), text);
  }
  symlinkSync(target, join(volume, '..new'));
  renameSync(join(volume, '..new'), join(volume, '..data'));
}

/** A server that asks for certificates itself, and calls to that port of it. */
export interface DirectServer {
  readonly server: Server;
  readonly url: string;
  post(options: RequestOptions, path?: string): Promise<Answer>;
  /** A page of the browser, on a connection of its own. */
  get(options: RequestOptions, path: string): Promise<{ readonly location: string | null }>;
  /** On a connection of its own. */
  logIn(own: IssuedCertificate): Promise<Answer>;
}

let versions = 0;

/**
 * @param changes of the mtls variables, by names without their prefix
 * @param more further options of the server, with variables by their full names
 */
export async function startDirect(
  changes: Readonly<Record<string, string>> = {},
  more: Parameters<typeof startServer>[0] = {},
): Promise<DirectServer> {
  publish(files, `v${(versions += 1)}`);
  const path = (name: string): string => join(volume, '..data', name);
  const own = {
    MODE: 'direct',
    TLS_PORT: '0',
    TLS_CERT_PATH: path('tls.crt'),
    TLS_KEY_PATH: path('tls.key'),
    CA_PATH: path('ca.crt'),
    CRL_PATH: path('crl.pem'),
  };
  const server = await startServer({
    ...more,
    env: { ...mtlsEnv({ ...own, ...changes }), ...more.env },
  });
  const [, url = ''] = await server.logged(/certificates on (https:[^"]+)/);
  const post: DirectServer['post'] = (options, route = '/v1/auth/mtls') => {
    const { hostname, port } = new URL(url);
    return ask({ hostname, port, method: 'POST', path: route, ca: root.cert, ...options });
  };
  const get: DirectServer['get'] = async (options, path) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path, ca: root.cert, agent: false, ...options });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return { location: answer.headers.location ?? null };
  };
  return { server, url, post, get, logIn: (own) => post({ ...chained(own), agent: false }) };
}

async function ask(options: RequestOptions): Promise<Answer> {
  const sent = request(options);
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
  }
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Json;
  return { status: answer.statusCode ?? 0, body };
}
