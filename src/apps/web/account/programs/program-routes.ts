import * as v from 'valibot';
import { Transport } from '../../../../packages/client/api/api-client-transport.js';
import { pathOf } from '../../../../packages/client/api/path.js';
import { serverUrl } from '../../server.js';

const time = v.pipe(v.number(), v.safeInteger());
const named = v.object({ id: v.string(), name: v.string() });
const scope = v.object({ id: v.string(), text: v.string(), requires: v.array(v.string()) });
const request = v.object({
  client: named,
  redirectUri: v.string(),
  resource: named,
  scopes: v.array(scope),
  expiresAt: time,
  grantExpiresAt: time,
});
const redirect = v.object({ redirectTo: v.string() });

/** The request of a program, as the person has to see it. */
export type ProgramRequest = v.InferOutput<typeof request>;
export type ProgramScope = v.InferOutput<typeof scope>;

/** Requests of programs: a server has these routes only where a backend accepts programs. */
export class ProgramRequestRoutes {
  private readonly transport: Transport;

  constructor(token: string) {
    this.transport = new Transport({ serverUrl: serverUrl(), token });
  }

  show(id: string): Promise<ProgramRequest> {
    return this.transport.send('GET', pathOf`/v1/oauth/requests/${id}`, request);
  }

  /** @returns the address of the program, with the code */
  async approve(id: string, shown: ProgramRequest, scopes: readonly string[]): Promise<string> {
    const body = { clientId: shown.client.id, redirectUri: shown.redirectUri, scopes };
    const path = pathOf`/v1/oauth/requests/${id}`;
    return (await this.transport.send('POST', path, redirect, { body })).redirectTo;
  }

  /** @returns the address of the program, with the refusal */
  async deny(id: string): Promise<string> {
    const path = pathOf`/v1/oauth/requests/${id}`;
    return (await this.transport.send('DELETE', path, redirect)).redirectTo;
  }
}
