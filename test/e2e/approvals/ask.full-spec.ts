import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
import { Phone } from '../../fixtures/phone-fixture.js';
import {
  CLI,
  createCliUser,
  UNREAD,
  UNREAD_WHOLLY,
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
const phone = await Phone.of(asker);
const computer = await createCliUser();
const { stdout: secret } = await asker.user.run(['key', 'show']);
await computer.run(['key', 'restore', '--server', server.url], {}, secret);
expect(await computer.run(['login', '--server', server.url])).toMatchObject({ code: 0 });

afterAll(async () => {
  await asker.stop();
  proxy.close();
  await server.stop();
});

const ask = (...args: string[]): RunningCli =>
  asker.start('ask', 'permission', '--tool', 'Bash', '--command', 'npm test', ...args);
const listed = async (): Promise<Waiting[]> => {
  const { stdout } = await computer.run(['requests', '--json']);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Waiting);
};
/** Returns what the command says of the request that waits. */
const shown = async (): Promise<Waiting | undefined> => {
  await phone.asked();
  return (await listed())[0];
};
const answer = (id: string, ...words: string[]) =>
  computer.run(['requests', 'answer', id, ...words]);
const stateOf = async (id: string): Promise<string> => (await phone.routes.read(id)).state;

const post = (id: string, body: Json, token: string): Promise<Answer> =>
  call(server, 'POST', `/v1/requests/${id}/answer`, { token, body });

describe('gatehouse ask', () => {
  it('prints allow once another computer with the key has allowed it', async () => {
    const before = receiver.received.length;
    const asked = ask('--session', 's1', '--title', 'Fix the build');
    const id = await phone.asked();
    expect(await listed()).toMatchObject([{ id, summary: 'npm test' }]);
    await waitFor('the notification', () => receiver.received.length > before);
    expect(receiver.json).toMatchObject({
      request: { requestId: id },
      session: { sessionId: 's1' },
    });
    const { stdout } = await computer.run(['requests', 'show', id.slice(0, 6)]);
    expect(stdout).toMatch(/^Command:\n {2}npm test\nDirectory:\n/);
    expect(await answer(id, 'allow')).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
    expect(await listed()).toEqual([]);
  });

  it('exits with 10 on a denial, and prints the choice as JSON', async () => {
    const asked = ask('--json');
    await phone.answer(await phone.asked(), 'deny');
    const { code, stdout } = await asked.exited;
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject({ choice: 'deny', isSigned: true });
  });

  it.each([
    ['allow', 0, UNREAD],
    ['deny', 10, UNREAD_WHOLLY],
  ] as const)(
    'exits with the code of %s where its output has no reader',
    async (word, code, through) => {
      const unread = await createCliUser(through);
      const asked = unread.start(['ask', 'permission', '--tool', 'Bash', '--command', 'npm test'], {
        ...asker.env,
        XDG_CONFIG_HOME: dirname(asker.user.configDirectory),
      });
      await phone.answer(await phone.asked(), word);
      expect(await asked.exited).toMatchObject({ code });
      expect(await phone.routes.list()).toEqual([]);
    },
  );

  it('prints each chosen option of a question', async () => {
    const question = ['--question', 'Which?', '--option', 'A=the first', '--option', 'B'];
    const asked = asker.start('ask', 'question', ...question, '--multiple', '--custom-answer');
    const id = await phone.asked();
    expect(await answer(id, 'allow')).toMatchObject({ code: 2 });
    expect(await answer(id, '2', 'A', '--text', 'and C')).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'B\nA\nand C\n' });
  });

  it('takes an option by its label, also where that is the number of another', async () => {
    const question = ['--question', 'How many?', '--option', '2', '--option', '1'];
    const asked = asker.start('ask', 'question', ...question);
    expect(await answer(await phone.asked(), '1')).toMatchObject({ code: 0 });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: '1\n' });
  });

  it('takes no garbage of stolen tokens, and names an unsigned denial', async () => {
    const { stdout: secret } = await asker.user.run(['key', 'show']);
    const key = makeDeviceKey(Buffer.from(parseDeviceKey(secret.trim())));
    const logins = await Promise.all(Array.from({ length: 5 }, () => logIn(server, key)));
    const tokens = logins.map(({ token }) => token);
    const asked = ask();
    const id = await phone.asked();
    for (const [index, token] of tokens.entries()) {
      const sealed = `1.${Buffer.alloc(200, index).toString('base64url')}`;
      expect(await post(id, { sealed }, token)).toMatchObject({ status: 200 });
    }
    await asked.until(() => asked.stderr().split('does not count').length > 5);
    await phone.answer(id, 'allow');
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'allow\n' });

    const denied = ask();
    expect(await post(await phone.asked(), { deny: true }, tokens[0]!)).toMatchObject({
      status: 200,
    });
    const { code, stdout, stderr } = await denied.exited;
    expect({ code, stdout }).toEqual({ code: 10, stdout: 'deny\n' });
    expect(stderr).toContain('Denied without the key of the account');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('withdraws the request on %s', async (signal, code) => {
    const asked = ask();
    const id = await phone.asked();
    asked.child.kill(signal);
    expect(await asked.exited).toMatchObject({ code, stdout: '' });
    expect(await stateOf(id)).toBe('withdrawn');
  });

  it('exits with 11 without an answer in time', async () => {
    expect(await ask('--timeout', '1').exited).toMatchObject({ code: 11, stdout: '' });
    expect(await phone.routes.list()).toEqual([]);
  });

  it('exits with 12 where it cannot be answered from elsewhere', async () => {
    const long = asker.run(
      ...['ask', 'permission', '--tool', 'Bash', '--command', 'x'.repeat(4096)],
    );
    expect(await long).toMatchObject({ code: 12, stdout: '' });
    const keyless = await createCliUser();
    const env = { GATEHOUSE_TOKEN: phone.token, GATEHOUSE_SERVER: server.url };
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
    const id = await phone.asked();
    await asked.until(() => asked.stderr().includes('withdraws'));
    expect(asked.stderr()).toBe(
      `Waiting 600 s for an answer: at ${server.url}/app/#requests (open: Firefox on Linux), or by gatehouse requests.\nCtrl-C withdraws the request.\n`,
    );
    await phone.answer(id, 'allow');
    expect(await asked.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
    await page.withToken(token).logOut();
    expect(await ask().exited).toMatchObject({ code: 12, stdout: '' });
    await asker.ok('channels', 'enable', 'phone');
  });

  it('notifies, and exits with 12, where too many requests of its session wait', async () => {
    const own = new RequestCalls(server, asker.session.token);
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
    const notes: string[] = [];
    while (notes.length < 3) {
      const denied = asks();
      await phone.routes.deny(await phone.asked());
      notes.push((await denied.exited).stderr);
    }
    expect(notes.map((note) => note.includes('This session is paused'))).toEqual([
      ...[false, false, true],
    ]);

    const resumed = asks();
    const { id, summary } = (await shown())!;
    expect(summary).toMatch(/^You denied 3 requests of this session in a row/);
    const paused = await asks().exited;
    expect(paused).toMatchObject({ code: 12, stdout: '' });
    expect(paused.stderr).toContain('gatehouse requests resume');
    expect(await answer(id, 'Resume')).toMatchObject({ code: 0 });
    await phone.answer(await phone.asked(id), 'allow');
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
    const { id, state } = (await shown())!;
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
    await phone.answer(await phone.asked(), 'allow');
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
    const { id, summary } = (await shown())!;
    expect(summary).toBe('touch made-by-hook > out.txt && echo hi');
    await phone.answer(id, 'allow');
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
    const id = await phone.asked();
    expect((await answer(id, 'allow')).stderr).toContain('The agent takes a denial only');
    await phone.answer(id, 'deny');
    const { code, stdout } = await started.exited;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ permissionDecision: 'deny' });
  });

  it('prints nothing once its tool ran at the computer', async () => {
    const asked = start('permission');
    const id = await phone.asked();
    expect(await start('toolRan').exited).toMatchObject({ code: 0, stdout: '' });
    expect(await asked.exited).toMatchObject({ code: 0, stdout: '' });
    expect(await stateOf(id)).toBe('withdrawn');
  });

  it('counts the requests that it saw, and sends and stores no text of them', async () => {
    const { stdout } = await asker.run('hook', 'stats', '--json');
    const { requests, repeatedInSession } = JSON.parse(stdout) as Record<string, number>;
    expect({ requests, repeatedInSession }).toEqual({ requests: 4, repeatedInSession: 1 });
    expect((await asker.run('hook', 'stats')).stdout).toMatch(/in the session: +1 \(25 %\)/);
    expect((await asker.run('hook', 'stats', 'x')).code).not.toBe(0);
  });
});
