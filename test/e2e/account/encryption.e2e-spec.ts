import { logIn, refusalOf } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { AccountCalls, encrypted, OPTIONAL, plain } from '../../helpers/account-calls.js';

const store = await createStore();
const server = await startServer({ store, env: OPTIONAL });

afterAll(async () => {
  await server.stop();
  await store.drop();
});

describe('the encryption of an account', () => {
  const fresh = async (): Promise<AccountCalls> =>
    new AccountCalls(server, (await logIn(server)).token);

  const migration = { toMode: 'plain', expectedSettingsVersion: 0, settings: null };

  it('changes by a command, with everything that is stored, and only with the own key', async () => {
    const user = await createCliUser();
    await user.run(['signup', '--server', server.url]);
    await user.run(['channels', 'add', 'https://hooks.example/one']);
    const channels = async () => (await user.run(['channels', 'list', '--json'])).stdout;
    const before = await channels();
    expect(before).toContain('https://hooks.example/one');
    const mode = async (...args: string[]) => {
      const { code, stdout } = await user.run(['encryption', ...args, '--json']);
      return { code, mode: code === 0 ? (JSON.parse(stdout) as { mode: string }).mode : null };
    };
    expect(await mode()).toEqual({ code: 0, mode: 'e2ee' });
    expect(await mode('plain')).toEqual({ code: 1, mode: null });
    expect(await mode()).toEqual({ code: 0, mode: 'e2ee' });
    expect(await mode('plain', '--yes')).toEqual({ code: 0, mode: 'plain' });
    expect(await channels()).toBe(before);
    const other = { GATEHOUSE_TOKEN: (await fresh()).token };
    const refused = await user.run(['encryption', 'plain', '--yes', '--json'], other);
    expect(refused.code).toBe(1);
    expect(await mode('e2ee')).toEqual({ code: 0, mode: 'e2ee' });
    expect(await channels()).toBe(before);
  });

  it('is set when an account is created, with that time', async () => {
    const account = await fresh();
    const { createdAt, encryptionMode } = (await account.profile()).body;
    expect((await account.encryption()).body).toEqual({ mode: 'e2ee', updatedAt: createdAt });
    expect(encryptionMode).toBe('e2ee');
  });

  it('changes while nothing is stored, is sent as an update, and changes back', async () => {
    const account = await fresh();
    const live = await connect(server, { token: account.token });
    const before = Date.now();
    const changed = await account.changeMode('plain');
    expect(changed).toMatchObject({ status: 200, body: { mode: 'plain' } });
    expect(changed.body['updatedAt']).toBeGreaterThanOrEqual(before);
    expect((await account.encryption()).body).toEqual(changed.body);
    expect((await account.changeMode('plain')).body).toEqual(changed.body);
    expect((await account.changeMode('e2ee')).body).toMatchObject({ mode: 'e2ee' });
    for (const seq of [1, 2]) {
      const update = await live.next('update');
      expect(update).toMatchObject({ seq, body: { t: 'encryption-mode-changed' } });
    }
    expect(live.waiting('update')).toBe(0);
    live.close();
  });

  it.each<[string, (account: AccountCalls) => Promise<unknown>]>([
    ['settings', (account) => account.writeSettings('eA==', 0)],
    ['credentials', (account) => account.putCredential('github', encrypted('eA=='))],
  ])('refuses a change of the mode while %s are stored', async (_name, write) => {
    const account = await fresh();
    await write(account);
    const refused = { status: 409, code: 'migration-required' };
    expect(refusalOf(await account.changeMode('plain'))).toEqual(refused);
    expect((await account.encryption()).body['mode']).toBe('e2ee');
    expect(refusalOf(await account.migrate({ ...migration, credentials: [] }))).toEqual(
      refusalOf(await account.migrate({ ...migration, credentials: [] })),
    );
  });

  it('never leaves content of the other kind after a simultaneous write and change', async () => {
    for (let round = 0; round < 5; round += 1) {
      const account = await fresh();
      await Promise.all([
        account.changeMode('plain'),
        account.putCredential('github', encrypted('eA==')),
        account.writeSettings('eA==', 0),
      ]);
      const { mode } = (await account.encryption()).body;
      const { content } = (await account.settingsV2()).body;
      const { credentials } = (await account.credentials()).body;
      const isStored = content !== null || (credentials as unknown[]).length > 0;
      expect({ mode, isStored }).toEqual({ mode, isStored: mode === 'e2ee' });
    }
  });

  it('migrates all content in one request', async () => {
    const account = await fresh();
    await account.writeSettings('b25l', 0);
    await account.putCredential('github', encrypted('dHdv'));
    const live = await connect(server, { token: account.token });
    const { status, body } = await account.migrate({
      toMode: 'plain',
      expectedSettingsVersion: 1,
      settings: plain('one'),
      credentials: [{ service: 'github', content: plain('two') }],
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: { success: true, mode: 'plain', settingsVersion: 2, updatedAt: expect.any(Number) },
    });
    expect((await account.settingsV2()).body).toEqual({ content: plain('one'), version: 2 });
    expect((await account.credential('github')).body['content']).toEqual(plain('two'));
    expect((await account.encryption()).body['mode']).toBe('plain');
    const updates = [await live.next('update'), await live.next('update')];
    expect(updates.map(({ body: news }) => news)).toEqual([
      { t: 'encryption-mode-changed' },
      { t: 'account-settings-changed' },
    ]);
    live.close();
  });

  it.each<[string, object, number, string]>([
    ['leaves a service out', { credentials: [] }, 409, 'migration-required'],
    [
      'makes a service up',
      {
        credentials: [
          { service: 'github', content: plain(1) },
          { service: 'figma', content: plain(1) },
        ],
      },
      409,
      'migration-required',
    ],
    ['leaves the settings out', { settings: null }, 409, 'migration-required'],
    [
      'sends one part of the old kind',
      { credentials: [{ service: 'github', content: encrypted('eA==') }] },
      400,
      'content-mode-mismatch',
    ],
    [
      'names a service twice',
      {
        credentials: [
          { service: 'github', content: plain(1) },
          { service: 'github', content: plain(2) },
        ],
      },
      400,
      'invalid-request',
    ],
    ['sends no list', { credentials: 'github' }, 400, 'invalid-request'],
    [
      'sends a service without content',
      { credentials: [{ service: 'github' }] },
      400,
      'invalid-request',
    ],
    ['goes nowhere', { toMode: 'rot13' }, 400, 'invalid-request'],
  ])('migrates nothing for a client that %s', async (_name, change, status, code) => {
    const account = await fresh();
    await account.writeSettings('b25l', 0);
    await account.putCredential('github', encrypted('dHdv'));
    const answer = await account.migrate({
      toMode: 'plain',
      expectedSettingsVersion: 1,
      settings: plain('one'),
      credentials: [{ service: 'github', content: plain('two') }],
      ...change,
    });
    expect(refusalOf(answer)).toEqual({ status, code });
    expect((await account.settings()).body).toEqual({ settings: 'b25l', settingsVersion: 1 });
    expect((await account.credential('github')).body['content']).toEqual(encrypted('dHdv'));
    expect((await account.encryption()).body['mode']).toBe('e2ee');
  });

  it('migrates nothing for a client that has not read the newest settings', async () => {
    const account = await fresh();
    await account.writeSettings('b25l', 0);
    const { status, body } = await account.migrate({
      ...migration,
      settings: plain('zero'),
      credentials: [],
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: false,
        error: 'version-mismatch',
        currentVersion: 1,
        currentContent: encrypted('b25l'),
      },
    });
    expect((await account.encryption()).body['mode']).toBe('e2ee');
  });

  it('migrates nothing over a credential that was written since it was listed', async () => {
    const account = await fresh();
    await account.putCredential('github', encrypted('b25l'));
    const { updatedAt } = (await account.credential('github')).body;
    await account.putCredential('github', encrypted('dHdv'));
    const converted = { service: 'github', content: plain('one') };
    for (const other of [updatedAt, 0, 1.5, null, '1']) {
      const { body } = await account.migrate({
        ...migration,
        credentials: [{ ...converted, updatedAt: other }],
      });
      const isTime = Number.isInteger(other);
      expect(body).toMatchObject(
        isTime ? { success: false, error: 'version-mismatch' } : { code: 'invalid-request' },
      );
    }
    expect((await account.credential('github')).body['content']).toEqual(encrypted('dHdv'));
    expect((await account.encryption()).body['mode']).toBe('e2ee');
  });

  it('loses none of fifty credentials that are written while their account migrates', async () => {
    const race = async () => {
      const account = await fresh();
      await account.putCredential('github', encrypted('b25l'));
      const { updatedAt } = (await account.credential('github')).body;
      const [written, migrated] = await Promise.all([
        account.putCredential('github', encrypted('dHdv')),
        account.migrate({
          ...migration,
          credentials: [{ service: 'github', content: plain('one'), updatedAt }],
        }),
      ]);
      const isWritten = written.status === 200;
      expect(migrated.body['success']).toBe(!isWritten);
      expect((await account.credential('github')).body['content']).toEqual(
        isWritten ? encrypted('dHdv') : plain('one'),
      );
    };
    await Promise.all(Array.from({ length: 50 }, race));
  });

  it('migrates once when ten migrations come at once', async () => {
    const account = await fresh();
    await account.writeSettings('b25l', 0);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        account.migrate({
          toMode: 'plain',
          expectedSettingsVersion: 1,
          settings: plain(index),
          credentials: [],
        }),
      ),
    );
    expect(answers.filter(({ body }) => body['success'] === true)).toHaveLength(1);
    expect((await account.settingsV2()).body['version']).toBe(2);
  });

  it('refuses the choice of an account where the policy leaves none, in either mode', async () => {
    const { token } = await fresh();
    const policy = { SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'plaintext_only' };
    const strict = await startServer({ store, env: { ...OPTIONAL, ...policy } });
    const account = new AccountCalls(strict, token);
    expect((await account.encryption()).body['mode']).toBe('e2ee');
    for (const toMode of ['e2ee', 'plain']) {
      const refused = { status: 403, code: 'account-optout-disabled' };
      expect(refusalOf(await account.changeMode(toMode))).toEqual(refused);
    }
    await strict.stop();
  });

  it('refuses an unknown mode', async () => {
    const account = await fresh();
    for (const mode of [undefined, 'rot13', null, 1]) {
      expect(refusalOf(await account.changeMode(mode))).toEqual({
        status: 400,
        code: 'invalid-request',
      });
    }
  });
});
