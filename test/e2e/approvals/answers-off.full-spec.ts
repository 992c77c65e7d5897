import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newRequestId, RequestCalls, sealedText } from '../../helpers/request-calls.js';
import { adminUrlOf, AdminCalls, AdminTokensFile } from '../../fixtures/admin-fixture.js';
import { inChromium, useChromium } from '../../fixtures/programs/browser-fixture.js';
import { Notifying } from '../../fixtures/notify-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { call, logIn, refusalOf } from '../../helpers/client.js';
import { TcpProxy } from '../../helpers/tcp-proxy.js';
import { waitFor } from '../../helpers/wait.js';
import { enterKey, sees, seesAccount } from '../web/account-page-acts.js';
import { openConsole } from '../web/admin-console-acts.js';

const CLAUDE = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/agent-hooks/claude-code.json'), 'utf8'),
) as { readonly inputs: Readonly<Record<string, object>> };

const visit = useChromium();

// The same database, first where requests are answered, then with the feature switched off.
const [store, tokens] = await Promise.all([createStore(), AdminTokensFile.create()]);
const start = (env: Readonly<Record<string, string>>) =>
  startServer({ store, env: { ...tokens.env, ...env } });
const before = await start({});
const proxy = await TcpProxy.start(before.port);
const asker = await Notifying.start({ ...before, url: proxy.urlFor(before.url) });
const receiver = await asker.webhook('phone');
const first = new RequestCalls(before, (await logIn(before)).token);
const open = await first.asked();
await first.answer(await first.asked(), { sealed: sealedText() });
const admin = new AdminCalls(await adminUrlOf(before), tokens.reader);
expect((await admin.get('/overview')).body['requests']).toMatchObject({ waiting: 2 });
await before.kill('SIGTERM');
const server = await start({ SERVICE_FEATURE_ANSWERS__ENABLED: '0' });
proxy.leadTo(server.port);
const calls = new RequestCalls(server, first.token);
afterAll(async () => {
  await asker.stop();
  proxy.close();
  await server.stop();
  await store.drop();
});

describe('a server with SERVICE_FEATURE_ANSWERS__ENABLED=0', () => {
  const rows = async (): Promise<number> =>
    (await runSql<object>(store.databaseUrl, 'SELECT 1 FROM agent_request')).length;

  it('has none of the routes, and says so in its discovery', async () => {
    const { body } = await call(server, 'GET', '/v1/features');
    expect(body['features']).toMatchObject({ answers: { enabled: false } });
    const answers = [
      await calls.list(),
      await calls.read(open),
      await calls.wait(open, 1),
      await calls.ask({ id: newRequestId(), sealed: sealedText() }),
      await calls.answer(open, { deny: true }),
      await calls.close(open),
    ];
    for (const answer of answers) {
      expect(refusalOf(answer)).toEqual({ status: 404, code: 'not-found' });
    }
  });

  it('makes gatehouse ask notify, say why, and exit with 12', async () => {
    const before = receiver.received.length;
    const asked = ['ask', 'permission', '--tool', 'Bash', '--command', 'npm test'];
    const { code, stdout, stderr } = await asker.run(...asked);
    expect({ code, stdout }).toEqual({ code: 12, stdout: '' });
    expect(stderr).toContain('The server takes no requests of this account.');
    await waitFor('the notification', () => receiver.received.length === before + 1);
    const listed = await asker.run('requests');
    expect(listed).toMatchObject({ code: 1, stdout: '' });
    expect(listed.stderr).toContain('The server takes no requests.');
  });

  it('makes gatehouse hook notify, print nothing, and exit with 0', async () => {
    const before = receiver.received.length;
    const input = JSON.stringify(CLAUDE.inputs['permission']);
    const asked = await asker.user.run(['hook', 'claude-code'], asker.env, input);
    expect(asked).toMatchObject({ code: 0, stdout: '' });
    expect(asked.stderr).toContain('Answer at the computer.');
    await waitFor('the notification', () => receiver.received.length === before + 1);
    const ran = JSON.stringify(CLAUDE.inputs['toolRan']);
    const after = await asker.user.run(['hook', 'claude-code'], asker.env, ran);
    expect(after).toMatchObject({ code: 0, stdout: '' });
  });

  inChromium('on its pages', () => {
    it('has no section for requests on the account page, also at its address', async () => {
      const { stdout } = await asker.user.run(['key', 'show']);
      const visitor = await visit(`${server.url}/app`);
      const { page } = visitor;
      await enterKey(visitor, stdout.trim());
      await seesAccount(visitor);
      await sees(visitor, 'What to do next');
      expect(await page.getByRole('link', { name: /^Requests/ }).count()).toBe(0);
      await page.goto(`${server.url}/app/#requests/${open}`);
      await page.reload();
      await seesAccount(visitor);
      await sees(visitor, 'What to do next');
      expect(await visitor.text()).not.toMatch(/request/i);
    });

    it('has no section for requests in the console', async () => {
      const url = await adminUrlOf(server);
      const { body } = await new AdminCalls(url, tokens.reader).get('/overview');
      expect(body['requests']).toBeNull();
      const visitor = await openConsole(visit, url, tokens.reader);
      await sees(visitor, 'All accounts');
      expect(await visitor.text()).not.toContain('Requests of programs');
    });
  });

  it('keeps what was asked before until its time is over', async () => {
    expect(await rows()).toBe(2);
    await runSql(
      store.databaseUrl,
      `UPDATE agent_request SET kept_until = now() - interval '1 second'`,
    );
    await waitFor('the deletion of the old requests', async () => (await rows()) === 0);
  });
});
