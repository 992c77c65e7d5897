import { expectErrorShape, logIn, refusalOf } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { AccountCalls, OPTIONAL_PLAIN, plain } from '../../helpers/account-calls.js';

let account: AccountCalls;

const server = await startServer({ env: OPTIONAL_PLAIN });

afterAll(() => server.stop());

beforeEach(async () => {
  account = new AccountCalls(server, (await logIn(server)).token);
});

const services = async (): Promise<unknown[]> => {
  const { credentials } = (await account.credentials()).body;
  return (credentials as { service: string }[]).map(({ service }) => service);
};

describe('credentials of connected services', () => {
  it('returns no credentials for a new account', async () => {
    expect((await account.credentials()).body).toEqual({ credentials: [] });
    expect(refusalOf(await account.credential('github'))).toEqual({
      status: 404,
      code: 'not-found',
    });
  });

  it('returns credentials as they were written, one by one and all by name', async () => {
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

  it('replaces a credential that is written again, and removes one whether it exists or not', async () => {
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

  it('sends changed credentials to the live clients with the settings', async () => {
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
  ])('refuses a service name with %s', async (_name, service) => {
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
    'stores a credential under the service name %s',
    async (service) => {
      expect((await account.putCredential(service, plain(1))).status).toBe(200);
      expect((await account.credential(service)).body['service']).toBe(service);
    },
  );

  it('stores credentials of at most 100 services, even with simultaneous requests', async () => {
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

  it('limits all credentials together to a third of a request body', async () => {
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

  it('refuses a credential without content, or with null', async () => {
    for (const content of [undefined, null, 'text', []]) {
      const refused = await account.putCredential('github', content);
      expect(refusalOf(refused)).toEqual({ status: 400, code: 'invalid-request' });
    }
  });

  it('reaches only the account of the token', async () => {
    const other = new AccountCalls(server, (await logIn(server)).token);
    await other.putCredential('github', plain('theirs'));
    expect(refusalOf(await account.credential('github')).status).toBe(404);
    await account.removeCredential('github');
    expect((await other.credential('github')).body['content']).toEqual(plain('theirs'));
  });
});
