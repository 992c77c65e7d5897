import { expectErrorShape, logIn, refusalOf } from '../helpers/client.js';
import { connect } from '../helpers/client-live.js';
import { startServer, type Server } from '../helpers/server.js';
import { AccountCalls, OPTIONAL_PLAIN, plain } from './account-calls.js';

let server: Server;
let account: AccountCalls;

beforeAll(async () => {
  server = await startServer({ env: OPTIONAL_PLAIN });
});

afterAll(() => server.stop());

beforeEach(async () => {
  account = new AccountCalls(server, (await logIn(server)).token);
});

const services = async (): Promise<unknown[]> => {
  const { credentials } = (await account.credentials()).body;
  return (credentials as { service: string }[]).map(({ service }) => service);
};

describe('credentials of connected services', () => {
  it('are none at first', async () => {
    expect((await account.credentials()).body).toEqual({ credentials: [] });
    expect(refusalOf(await account.credential('github'))).toEqual({
      status: 404,
      code: 'not-found',
    });
  });

  it('are read as they were written, one by one and all by name', async () => {
    const before = Date.now();
    expect((await account.putCredential('github', plain({ token: 'a' }))).body).toEqual({
      success: true,
    });
    await account.putCredential('Figma', plain('b'));
    expect((await account.credential('github')).body).toEqual({
      service: 'github',
      content: plain({ token: 'a' }),
      updatedAt: expect.any(Number),
    });
    expect((await account.credential('github')).body['updatedAt']).toBeGreaterThanOrEqual(before);
    expect(await services()).toEqual(['Figma', 'github']);
  });

  it('are replaced when they are put again, and removed, known or not', async () => {
    await account.putCredential('github', plain(1));
    await account.putCredential('github', plain(2));
    expect((await account.credential('github')).body['content']).toEqual(plain(2));
    for (const removal of [
      await account.removeCredential('github'),
      await account.removeCredential('github'),
    ]) {
      const { status, body } = removal;
      expect({ status, body }).toEqual({ status: 200, body: { success: true } });
    }
    expect(await services()).toEqual([]);
  });

  it('are sent to the live clients with the settings', async () => {
    const live = await connect(server, { token: account.token });
    await live.next('hello');
    await account.putCredential('github', plain(1));
    await account.removeCredential('github');
    await account.removeCredential('github');
    await account.putCredential('github', plain(2));
    for (const seq of [1, 2, 3]) {
      const update = await live.next('update');
      expect(update).toMatchObject({ seq, body: { t: 'account-settings-changed' } });
    }
    expect(live.waiting('update')).toBe(0);
    live.close();
  });

  it.each([
    ['a dot first', '.hidden'],
    ['a space', 'git%20hub'],
    ['a slash', 'git%2fhub'],
    ['65 characters', 'x'.repeat(65)],
    ['a NUL', '%00'],
    ['a letter of another script', '%D0%B0'],
  ])('are not kept under a name with %s', async (_name, service) => {
    for (const answer of [
      await account.putCredential(service, plain(1)),
      await account.credential(service),
      await account.removeCredential(service),
    ]) {
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
      expectErrorShape(answer);
    }
  });

  it.each(['a', 'x'.repeat(64), 'my_service-2.example', '__proto__'])(
    'are kept under %s',
    async (service) => {
      expect((await account.putCredential(service, plain(1))).status).toBe(200);
      expect((await account.credential(service)).body['service']).toBe(service);
    },
  );

  it('are of a hundred services at most, however many come at once', async () => {
    const puts = await Promise.all(
      Array.from({ length: 110 }, (_, index) => account.putCredential(`s${index}`, plain(index))),
    );
    const refused = puts.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(10);
    expect(new Set(refused.map((answer) => JSON.stringify(refusalOf(answer))))).toEqual(
      new Set([JSON.stringify({ status: 400, code: 'invalid-request' })]),
    );
    const kept = await services();
    expect(kept).toHaveLength(100);
    const again = await account.putCredential(String(kept[0]), plain('again'));
    expect(again.status).toBe(200);
  });

  it('take up a third of a request body together', async () => {
    const half = 'x'.repeat(Math.floor(1_048_576 / 6) - 2);
    expect((await account.putCredential('one', plain(half))).status).toBe(200);
    const refused = await account.putCredential(
      'two',
      plain(`${half}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`),
    );
    expect(refusalOf(refused)).toEqual({ status: 413, code: 'payload-too-large' });
    expect((await account.putCredential('one', plain(`${half}x`))).status).toBe(200);
    expect(await services()).toEqual(['one']);
  });

  it('need content, and null is none', async () => {
    for (const content of [undefined, null, 'text', []]) {
      const refused = await account.putCredential('github', content);
      expect(refusalOf(refused)).toEqual({ status: 400, code: 'invalid-request' });
    }
  });

  it('reach the account of the token alone', async () => {
    const other = new AccountCalls(server, (await logIn(server)).token);
    await other.putCredential('github', plain('theirs'));
    expect(refusalOf(await account.credential('github')).status).toBe(404);
    await account.removeCredential('github');
    expect((await other.credential('github')).body['content']).toEqual(plain('theirs'));
  });
});
