import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
import { DeviceKey } from '../../../src/packages/client/crypto/device-key.js';
import { parseDeviceKey } from '../../../src/packages/client/crypto/key-text.js';
import { type Answer, call, type Json, logIn, makeDeviceKey } from '../../helpers/client.js';
import { RequestCalls } from '../../helpers/request-calls.js';
import { TcpProxy } from '../../helpers/tcp-proxy.js';
import { waitFor } from '../../helpers/wait.js';
import { Notifying } from '../../fixtures/notify-fixture.js';
import {
  CLI,
  createCliUser,
  UNREAD,
  UNREAD_WHOLLY,
  type CliUser,
  type RunningCli,
} from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';

interface Waiting {
  readonly id: string;
  readonly state: string;
  readonly summary: string;
}

const server = await startServer();
const proxy = await TcpProxy.start(Number(new URL(server.url).port));

const asker = await Notifying.start(server);
const receiver = await asker.webhook('phone');
const phone = await createCliUser();
const { stdout: secret } = await asker.user.run(['key', 'show']);
await phone.run(['key', 'restore', '--server', server.url], {}, secret);
expect(await phone.run(['login', '--server', server.url])).toMatchObject({ code: 0 });

afterAll(async () => {
  await asker.stop();
  proxy.close();
  await server.stop();
});

const ask = (...args: string[]): RunningCli =>
  asker.start('ask', 'permission', '--tool', 'Bash', '--command', 'npm test', ...args);
const listed = async (): Promise<Waiting[]> => {
  const { stdout } = await phone.run(['requests', '--json']);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Waiting);
};
const waiting = () => waitFor('a request waits', async () => (await listed())[0]);
const answer = (id: string, ...words: string[]) => phone.run(['requests', 'answer', id, ...words]);
const nothingWaits = () => waitFor('nothing waits', async () => (await listed()).length === 0);

/** The token of a login, as a thief of it has it. */
const tokenOf = (user: CliUser): string => {
  const servers = join(user.configDirectory, 'servers');
  const [directory = ''] = readdirSync(servers);
  const session = readFileSync(join(servers, directory, 'session.json'), 'utf8');
  return (JSON.parse(session) as { token: string }).token;
};
const post = (id: string, body: Json, token: string): Promise<Answer> =>
  call(server, 'POST', `/v1/requests/${id}/answer`, { token, body });

describe('gatehouse ask', () => {
  it('prints allow once another computer with the key has allowed it', async () => {
    const before = receiver.received.length;
    const asked = ask('--session', 's1', '--title', 'Fix the build');
    const { id, summary } = await waiting();
    expect(summary).toBe('npm test');
    await waitFor('the notification', () => receiver.received.length > before);
    expect(receiver.json).toMatchObject({
      request: { requestId: id },
      session: { sessionId: 's1' },
    });
    const { stdout } = await phone.run(['requests', 'show', id.slice(0, 6)]);
    expect(stdout).toMatch(/^Command:\n {2}npm test\nDirectory:\n/);
    expect(await answer(id, 'allow')).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
    expect(await listed()).toEqual([]);
  });

  it('exits with 10 on a denial, and prints the choice as JSON', async () => {
    const asked = ask('--json');
    expect(await answer((await waiting()).id, 'deny')).toMatchObject({ code: 0 });
    const { code, stdout } = await asked.exited;
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject({ choice: 'deny', isSigned: true });
  });

  it.each([
    ['allow', 0, UNREAD],
    ['deny', 10, UNREAD],
    ['deny', 10, UNREAD_WHOLLY],
  ])('exits with the code of %s where its output has no reader', async (word, code, through) => {
    const unread = await createCliUser(through);
    const asked = unread.start(['ask', 'permission', '--tool', 'Bash', '--command', 'npm test'], {
      ...asker.env,
      XDG_CONFIG_HOME: dirname(asker.user.configDirectory),
    });
    expect(await answer((await waiting()).id, word)).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code });
    expect(await listed()).toEqual([]);
  });

  it('prints each chosen option of a question', async () => {
    const question = ['--question', 'Which?', '--option', 'A=the first', '--option', 'B'];
    const asked = asker.start('ask', 'question', ...question, '--multiple', '--custom-answer');
    const { id } = await waiting();
    expect(await answer(id, 'allow')).toMatchObject({ code: 2 });
    expect(await answer(id, '2', 'A', '--text', 'and C')).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'B\nA\nand C\n' });
  });

  it('takes no garbage of stolen tokens, and names an unsigned denial', async () => {
    const { stdout: secret } = await asker.user.run(['key', 'show']);
    const key = makeDeviceKey(Buffer.from(parseDeviceKey(secret.trim())));
    const logins = await Promise.all(Array.from({ length: 5 }, () => logIn(server, key)));
    const tokens = logins.map(({ token }) => token);
    const asked = ask();
    const { id } = await waiting();
    for (const [index, token] of tokens.entries()) {
      const sealed = `1.${Buffer.alloc(200, index).toString('base64url')}`;
      expect(await post(id, { sealed }, token)).toMatchObject({ status: 200 });
    }
    await asked.until(() => asked.stderr().split('does not count').length > 5);
    expect(await answer(id, 'allow')).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'allow\n' });

    const denied = ask();
    expect(await post((await waiting()).id, { deny: true }, tokens[0]!)).toMatchObject({
      status: 200,
    });
    const { code, stdout, stderr } = await denied.exited;
    expect({ code, stdout }).toEqual({ code: 10, stdout: 'deny\n' });
    expect(stderr).toContain('Denied without the key of the account');
  });

  it('counts no answer to another request', async () => {
    const first = ask();
    const { id } = await waiting();
    const { body } = await call(server, 'GET', `/v1/requests/${id}`, {
      token: tokenOf(phone),
    });
    expect(await answer(id, 'allow')).toMatchObject({ code: 0 });
    await first.exited;
    const second = ask();
    const next = await waiting();
    expect(next.id).not.toBe(id);
    // The server has no seal of an answer but that of the first request, and that request itself.
    await post(next.id, { sealed: String(body['sealed']) }, tokenOf(phone));
    await second.until(() => second.stderr().includes('does not count'));
    second.child.kill('SIGTERM');
    await second.exited;
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('withdraws the request on %s', async (signal, code) => {
    const asked = ask();
    const { id } = await waiting();
    asked.child.kill(signal);
    expect(await asked.exited).toMatchObject({ code, stdout: '' });
    await nothingWaits();
    expect(await answer(id, 'allow')).toMatchObject({ code: 1 });
  });

  it('withdraws the request of a killed process when the next one asks', async () => {
    const killed = ask();
    const { id } = await waiting();
    killed.child.kill('SIGKILL');
    await killed.exited;
    expect(await answer(id, 'allow')).toMatchObject({ code: 0 });
    const next = ask();
    const found = await waitFor('the next request', async () =>
      (await listed()).find((one) => one.id !== id),
    );
    await waitFor('the first is closed', async () => (await listed()).length === 1);
    expect(await answer(found.id, 'deny')).toMatchObject({ code: 0 });
    expect(await next.exited).toMatchObject({ code: 10, stdout: 'deny\n' });
  });

  it('exits with 11 without an answer in time', async () => {
    expect(await ask('--timeout', '1').exited).toMatchObject({ code: 11, stdout: '' });
    await nothingWaits();
  });

  it('exits with 12 where it cannot be answered from elsewhere', async () => {
    const long = asker.run(
      ...['ask', 'permission', '--tool', 'Bash', '--command', 'x'.repeat(4096)],
    );
    expect(await long).toMatchObject({ code: 12, stdout: '' });
    const keyless = await createCliUser();
    const env = { GATEHOUSE_TOKEN: tokenOf(phone), GATEHOUSE_SERVER: server.url };
    const args = ['ask', 'permission', '--tool', 'Bash', '--command', 'ls'];
    const refused = await keyless.run(args, env);
    expect(refused).toMatchObject({ code: 12, stdout: '' });
    expect(refused.stderr).toContain('no key of the account');
    await asker.ok('channels', 'disable', 'phone');
    expect(await ask().exited).toMatchObject({ code: 12, stdout: '' });
    await asker.ok('channels', 'enable', 'phone');
  });

  it('asks an open page where nothing is notified, and says where it waits', async () => {
    await asker.ok('channels', 'disable', 'phone');
    const { stdout: secret } = await asker.user.run(['key', 'show']);
    const page = new GatehouseClient({
      serverUrl: server.url,
      client: { name: 'Firefox on Linux', platform: 'web' },
    });
    const { token } = await page.logIn(await DeviceKey.fromSecret(secret.trim()));
    const asked = ask();
    const { id } = await waiting();
    await asked.until(() => asked.stderr().includes('withdraws'));
    expect(asked.stderr()).toBe(
      `Waiting 600 s for an answer: at ${server.url}/app/#requests (open: Firefox on Linux), or by gatehouse requests.\nCtrl-C withdraws the request.\n`,
    );
    expect(await answer(id, 'allow')).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
    await page.withToken(token).logOut();
    expect(await ask().exited).toMatchObject({ code: 12, stdout: '' });
    await asker.ok('channels', 'enable', 'phone');
  });

  it('notifies, and exits with 12, where too many requests of its session wait', async () => {
    const own = new RequestCalls(server, tokenOf(asker.user));
    const ids = await Promise.all(Array.from({ length: 25 }, () => own.asked()));
    const before = receiver.received.length;
    const { code, stdout, stderr } = await ask('--session', 'crowded').exited;
    expect({ code, stdout }).toEqual({ code: 12, stdout: '' });
    expect(stderr).toContain('Too many requests wait');
    await waitFor('the notification', () => receiver.received.length > before);
    expect(receiver.json).toMatchObject({ session: { sessionId: 'crowded' } });
    await Promise.all(ids.map((id) => own.close(id)));
  });

  it('pauses a session after three denials in a row, until the person resumes it', async () => {
    const asks = () => ask('--session', 'worn');
    const denials = new RequestCalls(server, tokenOf(phone));
    const notes: string[] = [];
    while (notes.length < 3) {
      const denied = asks();
      const { id } = await waitFor('a request', async () => {
        const { body } = await denials.list();
        return (body['requests'] as readonly { readonly id: string }[])[0];
      });
      await denials.answer(id, { deny: true });
      notes.push((await denied.exited).stderr);
    }
    expect(notes.map((note) => note.includes('This session is paused'))).toEqual([
      ...[false, false, true],
    ]);

    const resumed = asks();
    const { id, summary } = await waiting();
    expect(summary).toMatch(/^You denied 3 requests of this session in a row/);
    const paused = await asks().exited;
    expect(paused).toMatchObject({ code: 12, stdout: '' });
    expect(paused.stderr).toContain('gatehouse requests resume');
    expect(await answer(id, 'Resume')).toMatchObject({ code: 0 });
    const next = await waitFor('the request', async () =>
      (await listed()).find((one) => one.summary === 'npm test'),
    );
    expect(await answer(next.id, 'allow')).toMatchObject({ code: 0 });
    expect(await resumed.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
    expect((await asker.run('requests', 'resume')).stdout).toBe('No session is paused.\n');
  });

  it('opens no request whose server this computer does not know', async () => {
    const home = await createCliUser();
    const env = { ...asker.env, XDG_STATE_HOME: join(home.home, 'state') };
    const url = proxy.urlFor(server.url);
    const { stdout: secret } = await asker.user.run(['key', 'show']);
    await home.run(['key', 'restore', '--server', url], {}, secret);
    expect(await home.run(['login', '--server', url])).toMatchObject({ code: 0 });
    const asked = home.start(['ask', 'permission', '--tool', 'Bash', '--command', 'ls'], env);
    const { id, state } = await waiting();
    expect(state).toBe('other-server');
    expect(await answer(id, 'allow')).toMatchObject({ code: 1 });
    // The connection is lost while the command waits, and an answer arrives meanwhile.
    proxy.cut();
    expect(await home.run(['requests', 'answer', id, 'allow'])).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
  });
});

describe('gatehouse hook', () => {
  const inputsOf = (agent: string): Record<string, object> => {
    const file = join(import.meta.dirname, `../../fixtures/agent-hooks/${agent}.json`);
    return (JSON.parse(readFileSync(file, 'utf8')) as { inputs: Record<string, object> }).inputs;
  };
  const inputs = inputsOf('claude-code');
  const start = (name: string): RunningCli => {
    const started = asker.start('hook', 'claude-code');
    started.child.stdin?.end(JSON.stringify(inputs[name]));
    return started;
  };

  it('prints the decision of another device in the form of the agent', async () => {
    const asked = start('permission');
    expect(await answer((await waiting()).id, 'allow')).toMatchObject({ code: 0 });
    const { code, stdout } = await asked.exited;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PermissionRequest',
        decision: {
          behavior: 'allow',
          updatedInput: { command: 'rm -rf build', description: 'Start from nothing' },
        },
      },
    });
  });

  it('answers OpenCode once through the plugin in the documentation', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/agent-hooks.md'), 'utf8');
    const [, plugin = ''] = /```js\n([^]*?)```/.exec(page) ?? [];
    const bin = join(asker.user.home, 'bin');
    await mkdir(bin);
    await writeFile(
      join(bin, 'gatehouse'),
      `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`,
      { mode: 0o700 },
    );
    const client = `{
      session: { get: async () => ({ data: { parentID: 'ses_parent' } }) },
      postSessionIdPermissionsPermissionId: async (call) => console.log(JSON.stringify(call)),
    }`;
    const { stop } = inputsOf('opencode');
    const { directory, ...event } = inputsOf('opencode')['permission'] as { directory: string };
    const program = `${plugin}
      const { event } = await Gatehouse({ client: ${client}, directory: ${JSON.stringify(directory)} });
      await event({ event: { type: 'message.updated', properties: {} } });
      await event({ event: ${JSON.stringify(stop)} });
      await event({ event: ${JSON.stringify(event)} });`;
    const env = {
      ...asker.env,
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      HOME: asker.user.home,
      XDG_CONFIG_HOME: dirname(asker.user.configDirectory),
    };
    const args = ['--input-type=module', '--eval', program];
    const replied = promisify(execFile)(process.execPath, args, { env });
    const { id, summary } = await waiting();
    expect(summary).toBe('touch made-by-hook > out.txt && echo hi');
    expect(await answer(id, 'allow')).toMatchObject({ code: 0 });
    expect(JSON.parse((await replied).stdout)).toEqual({
      path: {
        id: 'ses_ddf724dcdffenAp8HDFvEei3NF',
        permissionID: 'per_2208dd7f7001k0kT8w2eOSnLFx',
      },
      body: { response: 'once' },
    });
    const bodies = receiver.received.map(({ rawBody }) => rawBody.toString());
    expect(bodies.filter((body) => body.includes('"ready"'))).toEqual([]);
  });

  it('offers a denial only where an allow would override rules of the agent', async () => {
    const started = asker.start('hook', 'copilot');
    started.child.stdin?.end(JSON.stringify(inputsOf('copilot')['permission']));
    const { id } = await waiting();
    expect((await answer(id, 'allow')).stderr).toContain('The agent takes a denial only');
    expect(await answer(id, 'deny')).toMatchObject({ code: 0 });
    const { code, stdout } = await started.exited;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ permissionDecision: 'deny' });
  });

  it('prints nothing once its tool ran at the computer', async () => {
    const asked = start('permission');
    const { id } = await waiting();
    expect(await start('toolRan').exited).toMatchObject({ code: 0, stdout: '' });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: '' });
    expect(await answer(id, 'allow')).toMatchObject({ code: 1 });
  });

  it('counts the requests that it saw, and sends and stores no text of them', async () => {
    const { stdout } = await asker.run('hook', 'stats', '--json');
    const { requests, repeatedInSession } = JSON.parse(stdout) as Record<string, number>;
    expect({ requests, repeatedInSession }).toEqual({ requests: 4, repeatedInSession: 1 });
    expect((await asker.run('hook', 'stats')).stdout).toMatch(/in the session: +1 \(25 %\)/);
    expect((await asker.run('hook', 'stats', 'x')).code).not.toBe(0);
  });
});
