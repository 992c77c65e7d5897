import { randomInt, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { drawInvitationCode } from '../../../src/core/protocol/invitation-code.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import {
  call,
  challengedLogin,
  makeDeviceKey,
  refusalOf,
  type Answer,
  type Json,
} from '../../helpers/client.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';

const INVITED = {
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false',
  AUTH_SIGNUP_INVITATIONS_ENABLED: 'true',
};
const INVALID = { status: 403, code: 'invitation-invalid' };
const HOUR = 3600;

const unknownCode = (): string => drawInvitationCode((bound) => randomInt(bound));

const [store, tokens] = await Promise.all([createStore(), AdminTokensFile.create()]);
const server = await startServer({ store, env: { ...INVITED, ...tokens.env } });
const adminUrl = await adminUrlOf(server);
afterAll(async () => {
  await server.stop();
  await store.drop();
});

describe('an invitation at the command line', () => {
  const signUp = async (invitation: unknown): Promise<Answer> => {
    const body = { ...(await challengedLogin(server, makeDeviceKey())), invitation };
    return call(server, 'POST', '/v1/auth', { body });
  };

  it('creates, lists and revokes invitations at the command line, on the database and through a server', async () => {
    const user = await createCliUser();
    const viaServer = { GATEHOUSE_ADMIN_URL: adminUrl, GATEHOUSE_ADMIN_TOKEN: tokens.operator };
    const actor = ['--actor', 'bob'];
    const address = { SERVICE_PUBLIC_URL: 'https://gate.example' };
    for (const [env, by, page] of [
      [{ ...INVITED, ...store.env, ...address }, actor, 'https://gate.example/app'],
      // The server has no public address.
      [viaServer, [], null],
    ] as const) {
      const run = async (...args: string[]): Promise<Json[]> => {
        const { code, stdout, stderr } = await user.run(['invite', ...args, '--json'], env);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        return stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Json);
      };
      const [made] = await run('create', '--uses', '2', '--expires-in', '2h', '--note', 'x', ...by);
      const id = String(made?.['id']);
      expect(made?.['link']).toBe(page && `${page}#invitation=${String(made?.['code'])}`);
      expect((await signUp(made?.['code'])).status).toBe(200);
      const [newest] = await run('list');
      expect(newest).toMatchObject({
        ...{ id, uses: 2, used: 1, note: 'x', revokedAt: null },
        createdBy: by.length > 0 ? 'bob' : 'alice',
      });
      expect(Number(newest?.['expiresAt']) - Number(newest?.['createdAt'])).toBe(2 * HOUR * 1000);
      const revoked = ['revoke', id, '--reason', 'done', ...by];
      expect(await run(...revoked)).toMatchObject([{ id, changed: true }]);
      expect(await run(...revoked)).toMatchObject([{ id, changed: false }]);
      expect(refusalOf(await signUp(made?.['code']))).toEqual(INVALID);
      const unknown = await user.run(['invite', 'revoke', randomUUID(), '--reason', 'x'], env);
      expect(unknown.stderr).toContain('There is no invitation');
      for (const wrong of [
        ['--expires-in', '366d'],
        ['--uses', '0'],
        ['--note', 'a\nb'],
      ]) {
        expect((await user.run(['invite', 'create', ...wrong], env)).code).toBe(2);
      }
    }
  });

  it('says that an invitation creates no account while they are off', async () => {
    const user = await createCliUser();
    const closed = await user.run(['invite', 'create'], store.env);
    expect(closed).toMatchObject({
      code: 0,
      stderr:
        'It creates no account yet: invitations count with AUTH_SIGNUP_INVITATIONS_ENABLED=true.\n',
    });
  });

  it('says why the database refuses an act', async () => {
    const user = await createCliUser();
    const holder = new Client({ connectionString: store.databaseUrl ?? '' });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE invitation');
    const env = { ...INVITED, ...store.env, SERVICE_DATABASE_LOCK_TIMEOUT_MS: '100' };
    const { code, stderr } = await user.run(['invite', 'create'], env);
    await holder.end();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'gatehouse: canceling statement due to lock timeout\n',
    });
  });

  it('signs up a new user with an invitation at the command line', async () => {
    const { body } = await call({ url: adminUrl }, 'POST', '/admin/v1/invitations', {
      token: tokens.operator,
      body: { uses: 1, expiresInSeconds: HOUR },
    });
    const code = String(body['code']);
    const user = await createCliUser();
    const run = (...args: string[]) =>
      user.run(['signup', '--server', server.url, ...args, '--json']);
    const without = await run();
    expect(JSON.parse(without.stderr)).toMatchObject({ error: { code: 'signup-disabled' } });
    const wrong = await run('--invitation', unknownCode());
    expect(JSON.parse(wrong.stderr)).toMatchObject({ error: { code: 'invitation-invalid' } });
    const { code: exitCode, stdout } = await run('--invitation', code);
    expect({ exitCode, answer: JSON.parse(stdout) as Json }).toMatchObject({
      exitCode: 0,
      answer: { created: true },
    });
  });
});
