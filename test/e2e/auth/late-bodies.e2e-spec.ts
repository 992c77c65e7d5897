import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { call } from '../../helpers/client.js';
import { OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';

const fixture = await OffboardingFixture.open();
const server = await fixture.start({
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  AUTH_REQUIRED_LOGIN_PROVIDERS: 'people',
});
afterAll(() => fixture.close());

interface Late {
  readonly method: string;
  readonly path: string;
  readonly body: object;
}

/** Begins a request that the server admits. @returns sends its body, and returns the answer */
async function begin(person: Person, { method, path, body }: Late): Promise<() => Promise<string>> {
  // From now on the server authenticates the token within the call that gets the request.
  expect(await fixture.statusOf(server, person)).toBe(200);
  const text = JSON.stringify(body);
  const socket = openSocket(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`);
  socket.write(`content-type: application/json\r\nauthorization: Bearer ${person.token}\r\n`);
  socket.write(`content-length: ${text.length}\r\nexpect: 100-continue\r\n\r\n`);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /);
  return async () => {
    socket.write(text);
    return readText(socket);
  };
}

const WRITES: [string, Late][] = [
  [
    'settings',
    {
      method: 'POST',
      path: '/v2/account/settings',
      body: { content: { t: 'encrypted', c: 'of a thief' }, expectedVersion: 0 },
    },
  ],
  [
    'a credential',
    {
      method: 'PUT',
      path: '/v1/account/credentials/github',
      body: { content: { t: 'encrypted', c: 'of a thief' } },
    },
  ],
];

describe.each(WRITES)('a request to write %s whose body arrives later', (_what, write) => {
  it('is refused once its session has ended', async () => {
    const person = await fixture.person(server);
    const finish = await begin(person, write);
    expect((await call(server, 'POST', '/v1/auth/logout', person)).status).toBe(200);
    expect(await finish()).toMatch(/^HTTP\/1\.1 401 [^]*"code":"token-revoked"/);
  });

  it('is refused once a required provider refuses the person', async () => {
    const person = await fixture.person(server);
    const finish = await begin(person, write);
    fixture.provider.groups.set(person.sub, ['alumni']);
    await fixture.recheck(person.sub);
    expect(await fixture.statusOf(server, person)).toBe(403);
    expect(await finish()).toMatch(/^HTTP\/1\.1 403 [^]*"code":"not-eligible"/);
  });

  it('is done in a session that goes on', async () => {
    const person = await fixture.person(server);
    const finish = await begin(person, write);
    expect(await finish()).toMatch(/^HTTP\/1\.1 200 /);
  });
});
