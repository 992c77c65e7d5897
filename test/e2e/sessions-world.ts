import { call, loginBody, type Answer, type DeviceKey, type Json } from '../helpers/client.js';
import type { Server } from '../helpers/server.js';

/** One session as its account sees it. */
export interface Listed {
  readonly id: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly method: string;
  readonly client: { readonly name: string | null; readonly platform: string | null };
  readonly address: string;
  readonly current: boolean;
}

/** `POST /v1/auth` with a challenge of the server's, and what else the body is to hold. */
export async function logInAs(server: Server, key: DeviceKey, more: Json = {}): Promise<Answer> {
  const { body } = await call(server, 'POST', '/v1/auth/challenge');
  const challenge = Buffer.from(String(body['challenge']), 'base64');
  return call(server, 'POST', '/v1/auth', { body: { ...loginBody(key, challenge), ...more } });
}

export async function tokenOf(server: Server, key: DeviceKey, more: Json = {}): Promise<string> {
  const { status, body, text } = await logInAs(server, key, more);
  if (status !== 200) {
    throw new Error(`Login was answered ${status}: ${text}`);
  }
  return String(body['token']);
}

export const listSessions = (server: Server, token: string): Promise<Answer> =>
  call(server, 'GET', '/v1/account/sessions', { token });

export async function sessionsOf(server: Server, token: string): Promise<readonly Listed[]> {
  const { status, body, text } = await listSessions(server, token);
  if (status !== 200) {
    throw new Error(`The sessions were answered ${status}: ${text}`);
  }
  return body['sessions'] as readonly Listed[];
}

export const endSession = (server: Server, token: string, id: string): Promise<Answer> =>
  call(server, 'DELETE', `/v1/account/sessions/${encodeURIComponent(id)}`, { token });

/** The id of a token's session: its `jti`. */
export function sessionIdOf(token: string): string {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  return String((JSON.parse(payload) as Json)['jti']);
}
