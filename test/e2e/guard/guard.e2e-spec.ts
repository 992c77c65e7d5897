import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { GuardedRelay } from '../../fixtures/guarded-relay-fixture.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { backends, resourceOf } from '../../fixtures/resource-server-fixture.js';
import { logIn, type Login } from '../../helpers/client.js';
import { TcpProxy } from '../../helpers/tcp-proxy.js';
import { waitFor } from '../../helpers/wait.js';

const PEOPLE = 10;
const SOCKETS_EACH = 30;

interface Open {
  readonly socket: WebSocket;
  readonly person: number;
  readonly relay: number;
}

/** The status of a request whose Host header names another machine. */
async function statusAs(host: string, url: string): Promise<number | undefined> {
  const [answer] = (await once(get(`${url}/health`, { headers: { host } }), 'response')) as [
    IncomingMessage,
  ];
  answer.resume();
  return answer.statusCode;
}

const setup = backends([{ id: 'relay', maxTokenSeconds: 900 }]);
const resource = resourceOf('relay');
const relays: GuardedRelay[] = [];

/** Gatehouse as the guards reach it: a test can cut the connection. */
const issuer = (): string => `http://127.0.0.1:${proxy.port}`;
const clientOf = ({ token }: Login): GatehouseClient =>
  new GatehouseClient({ serverUrl: server.url, token });

const client = { id: 'relay', secret: setup.secretOf('relay') };
const startRelay = (): Promise<GuardedRelay> =>
  GuardedRelay.start({ issuer: issuer(), resource, client });

const [admins, proxy] = await Promise.all([AdminTokensFile.create(), TcpProxy.start(1)]);
let server = await startServer({
  env: { ...setup.env, ...admins.env, SERVICE_PUBLIC_URL: issuer() },
});
proxy.leadTo(server.port);
const operator = new AdminCalls(await adminUrlOf(server), admins.operator);
relays.push(...(await Promise.all([startRelay(), startRelay(), startRelay()])));

afterAll(async () => {
  relays.forEach((relay) => relay.kill('SIGKILL'));
  await server.stop();
  proxy.close();
});

describe('three relays with the guard', () => {
  let people: Login[];
  let tokens: string[];
  let sockets: Open[];
  const closed: (readonly [number, number, string])[] = [];
  const openSocketsOf = (person: number): number =>
    sockets.filter((one) => one.person === person && one.socket.readyState === WebSocket.OPEN)
      .length;

  beforeAll(async () => {
    people = await Promise.all(Array.from({ length: PEOPLE }, () => logIn(server)));
    tokens = await Promise.all(people.map((person) => clientOf(person).tokenFor(resource)));
    sockets = await Promise.all(
      Array.from({ length: PEOPLE * SOCKETS_EACH }, async (_one, index) => {
        const [person, relay] = [index % PEOPLE, index % 3];
        const socket = await (relays[relay] as GuardedRelay).open(tokens[person] ?? '');
        socket.on('close', (code, reason) => closed.push([person, code, reason.toString()]));
        return { socket, person, relay };
      }),
    );
  });
  afterAll(() => sockets.forEach(({ socket }) => socket.terminate()));

  it('admits a token of the client kit, and no session token', async () => {
    const [relay] = relays as [GuardedRelay];
    const answer = await relay.whoami(tokens[0] ?? '');
    expect([answer.status, await answer.json()]).toEqual([200, { account: people[0]?.accountId }]);
    expect((await relay.whoami(people[0]?.token ?? '')).status).toBe(401);
  });

  it('closes the sockets of a disabled account, and no other', async () => {
    const done = await operator.act(people[1]?.accountId ?? '', 'disable');
    expect(done.status).toBe(200);
    await waitFor('its sockets close', () => openSocketsOf(1) === 0);
    await waitFor('each close is seen', () => closed.length === SOCKETS_EACH);
    expect(new Set(closed.map((one) => one.join(' ')))).toEqual(
      new Set(['1 4401 session-revoked']),
    );
    for (const relay of relays) {
      const answer = await relay.whoami(tokens[1] ?? '');
      expect([answer.status, await answer.json()]).toMatchObject([401, { code: 'token-revoked' }]);
      expect((await relay.whoami(tokens[2] ?? '')).status).toBe(200);
    }
  });

  it('closes sockets that were open while the relay was stopped', async () => {
    const [, stopped] = relays as [GuardedRelay, GuardedRelay];
    stopped.kill('SIGSTOP');
    await clientOf(people[2] as Login).logOut();
    const elsewhere = (): boolean =>
      sockets.every(
        (one) => one.person !== 2 || one.relay === 1 || one.socket.readyState !== WebSocket.OPEN,
      );
    await waitFor('the other relays close theirs', elsewhere);
    expect(openSocketsOf(2)).toBeGreaterThan(0);
    stopped.kill('SIGCONT');
    await waitFor('the stopped relay closes them too', () => openSocketsOf(2) === 0);
    await waitFor('the relay admits others', async () => {
      return (await stopped.whoami(tokens[3] ?? '')).status === 200;
    });
  });

  it('misses no end while Gatehouse is away, and needs no restart', async () => {
    proxy.leadTo(1);
    proxy.cut();
    await clientOf(people[4] as Login).logOut();
    await waitFor('each guard notices it', () =>
      relays.every((relay) => relay.logs().includes('signals cannot be received')),
    );
    expect((await (relays[0] as GuardedRelay).whoami(tokens[5] ?? '')).status).toBe(200);
    proxy.leadTo(server.port);
    await waitFor('the sockets close', () => openSocketsOf(4) === 0);
    expect(openSocketsOf(5)).toBeGreaterThan(0);
  });

  it('recovers from a restart of Gatehouse', async () => {
    server = await server.restart();
    proxy.leadTo(server.port);
    await clientOf(people[6] as Login).logOut();
    await waitFor('the sockets close', () => openSocketsOf(6) === 0);
    expect((await (relays[0] as GuardedRelay).whoami(tokens[7] ?? '')).status).toBe(200);
  });
});

describe('gatehouse guard', () => {
  it('verifies tokens, and streams the sessions that end', async () => {
    const user = await createCliUser();
    const person = await logIn(server);
    const command = user.start(
      [
        ...['guard', '--json', '--issuer', issuer(), '--resource', resource, '--port', '0'],
        ...['--client-id', 'relay', '--client-secret-file', setup.secretFileOf('relay')],
      ],
      {},
    );
    try {
      await command.until(() => command.stdout().includes('\n'));
      const { url } = JSON.parse(command.stdout()) as { readonly url: string };
      await waitFor('it is ready', async () => (await fetch(`${url}/health`)).ok);
      const token = await clientOf(person).tokenFor(resource);
      const verify = (): Promise<Response> =>
        fetch(`${url}/verify`, { headers: { authorization: `Bearer ${token}` } });
      const answer = await verify();
      const { account, sid } = (await answer.json()) as Record<string, string>;
      expect([answer.status, account]).toEqual([200, person.accountId]);
      expect(answer.headers.get('x-gatehouse-session')).toBe(sid);
      expect((await fetch(`${url}/verify`)).status).toBe(401);
      expect((await fetch(`${url}/other`)).status).toBe(404);
      // Host names ignore case (RFC 9110, 4.2.3); a page under a name of its own reads nothing.
      const asked = ['LOCALHOST:80', 'rebound.example.com'].map((host) => statusAs(host, url));
      expect(await Promise.all(asked)).toEqual([200, 403]);

      const stream = await fetch(`${url}/ended`);
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      const read = async (): Promise<boolean> => {
        text += (await reader?.read())?.value ?? '';
        return text.includes('\n\nevent: ended');
      };
      await clientOf(person).logOut();
      await waitFor('the event', read);
      expect(text).toContain(`data: {"sid":"${sid}","reason":"session-revoked"}`);
      expect((await verify()).status).toBe(401);
      command.child.kill('SIGTERM');
      expect((await command.exited).code).toBe(0);
    } finally {
      command.child.kill('SIGKILL');
    }
  });

  it('refuses options that do not fit', async () => {
    const user = await createCliUser();
    const [id, address] = ['--client-id', '--resource'];
    const common = ['guard', address, resource, id, 'relay'];
    const secret = ['--client-secret-file', '/none'];
    for (const args of [
      [...common, '--issuer', 'http://gate.example.com', ...secret],
      [...common, '--issuer', issuer()],
      [...common, '--issuer', issuer(), ...secret, '--lease-seconds', '5'],
      ['guard'],
    ]) {
      const { code } = await user.run(args);
      expect(code).toBe(2);
    }
  });
});
