import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServerStore, type StoredSession } from '../../../src/apps/cli/account/server-store.js';
import { drawQr } from '../../../src/apps/cli/account/terminal-qr.js';
import { thisComputer } from '../../../src/apps/cli/account/this-computer.js';
import { deviceKeyWords, readDeviceLink } from '../../../src/packages/client/index.js';
import {
  createCliUser,
  ON_TERMINAL,
  type CliUser,
  type RunningCli,
} from '../../fixtures/programs/cli-fixture.js';
import { call, type Json } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import { BEHIND_PROXY, makeX25519Key, startAddressProxy } from '../../helpers/device-calls.js';
import { startLoginFixture } from '../../fixtures/provider-login-fixture.js';
import { keylessLogin, OPTIONAL } from '../../helpers/keyless-calls.js';

/** The computer with the account, and the one without a browser. */
let owner: CliUser;
let machine: CliUser;

const server = await startServer({ env: BEHIND_PROXY });
const proxied = await startAddressProxy(server);
afterAll(async () => {
  await proxied.stop();
  await server.stop();
});
beforeEach(async () => {
  [owner, machine] = [await createCliUser(), await createCliUser()];
});
afterEach(async () => {
  proxied.swapKey(null);
});

const WORDS_ASKED = 'Type the first three.';
const OWN_ASKED = 'Is this your account?';

interface PrintedCode {
  readonly userCode: string;
  readonly link: string;
  readonly checkWords: readonly string[];
}

async function begin(
  flags: readonly string[],
  env = {},
): Promise<PrintedCode & { cli: RunningCli }> {
  const args = ['login', '--server', proxied.url, '--code', '--json', ...flags];
  const cli = machine.start(args, env);
  await cli.until(() => cli.stdout().includes('\n'));
  return { cli, ...(JSON.parse(cli.stdout().split('\n')[0] ?? '') as PrintedCode) };
}

/** A person sits at the terminal of the new computer. */
const beginOnTerminal = (...flags: string[]) => begin(flags, ON_TERMINAL);

async function signUp(): Promise<{ readonly accountId: string }> {
  const { stdout } = await owner.run(['signup', '--server', proxied.url, '--json']);
  return JSON.parse(stdout) as { accountId: string };
}

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const lastOf = (text: string) => linesOf(text).at(-1);

/** Approves a typed code, and returns the words that the approving terminal then shows. */
async function approveCode(userCode: string): Promise<readonly string[]> {
  const args = ['devices', 'approve', userCode, '--json'];
  const { code, stdout } = await owner.run(args, {}, 'y\n');
  expect(code).toBe(0);
  return lastOf(stdout)?.['words'] as readonly string[];
}

const approveLink = (link: string) => owner.run(['devices', 'approve', '--yes', '-'], {}, link);

async function expectNothingStored(): Promise<void> {
  const at = ['--server', proxied.url];
  expect((await machine.run(['key', 'show', ...at])).code).toBe(3);
  expect((await machine.run(['whoami', ...at])).code).toBe(3);
}

/** Nothing is stored, and the session of the new device has ended. */
async function expectEnded(cli: RunningCli, code: string): Promise<void> {
  const result = await cli.exited;
  expect({ code: result.code, stderr: result.stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`"code":"${code}"`),
  });
  await expectNothingStored();
  const session = await storeOf(owner).session(proxied.url);
  const { body } = await call(server, 'GET', '/v1/account/sessions', { token: session!.token });
  const methods = (body['sessions'] as { method: string }[]).map(({ method }) => method);
  expect(methods).not.toContain('device');
}

describe('gatehouse login --code', () => {
  it('shows a QR code, a short code and the check words on a terminal', async () => {
    const args = ['login', '--server', proxied.url, '--code'];
    const cli = machine.start(args, ON_TERMINAL);
    await cli.until(() => cli.stderr().includes('Waiting'));
    const printed = cli.stderr();
    const [, link = ''] = /^ {2}(http\S+)$/m.exec(printed) ?? [];
    const read = readDeviceLink(link);
    expect(read).toMatchObject({ serverUrl: proxied.url });
    expect(printed).toContain(drawQr(link, false));
    expect(printed).toContain(`gatehouse devices approve ${read?.userCode}`);
    const words = deviceKeyWords({ publicKey: read?.publicKey ?? '', origins: [] });
    expect(printed).toContain(`:  ${words.join(' ')}\n`);
    cli.child.kill('SIGINT');
    await cli.exited;
    await expectNothingStored();
  });

  it('receives the account and its key by a typed code, after the words were compared and typed', async () => {
    const { accountId } = await signUp();
    const { cli, userCode, checkWords } = await beginOnTerminal();
    const approval = ['devices', 'approve', userCode.toLowerCase()];
    const approved = await owner.run(approval, {}, 'y\n');
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('Approved') });
    expect(approved.stderr).toContain(`Words    ${checkWords.join(' ')}\n`);
    expect(approved.stderr).toContain(process.platform);
    const [, words = ''] = /^ {2}((?:[a-z]+ ){4}[a-z]+)$/m.exec(approved.stdout) ?? [];
    expect(words).not.toBe(checkWords.join(' '));
    await cli.answer(WORDS_ASKED, `\n${words.split(' ').slice(0, 3).join(' ')}`);
    await cli.answer(OWN_ASKED, 'y');
    expect(cli.stderr()).toContain(`Account  ${accountId}`);
    const { code, stdout } = await cli.exited;
    expect(code).toBe(0);
    expect(lastOf(stdout)).toEqual({ server: proxied.url, accountId, created: false });
    expect((await machine.run(['key', 'show'])).stdout).toBe(
      (await owner.run(['key', 'show'])).stdout,
    );
    const who = await machine.run(['whoami', '--json']);
    expect(JSON.parse(who.stdout)).toMatchObject({ id: accountId, keyMode: 'keyed' });
    const { stdout: listed } = await owner.run(['devices', '--json']);
    const named = expect.objectContaining({ client: thisComputer });
    expect(linesOf(listed)).toEqual([named, named, named]);
    expect(await machine.run(['login', '--json'])).toMatchObject({ code: 0 });
  });

  it('receives the account by a link in a script, with the mode and the newest settings', async () => {
    const { accountId } = await signUp();
    expect((await owner.run(['preferences', 'set', 'ready=off'])).code).toBe(0);
    const { cli, link } = await begin(['--account', accountId]);
    const approved = await approveLink(`${link}\n`);
    expect(approved).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Words') });
    expect(await cli.exited).toMatchObject({ code: 0 });
    const pinOf = (user: CliUser) => {
      const servers = join(user.configDirectory, 'servers');
      const directory = join(servers, readdirSync(servers)[0] ?? '');
      const name = readdirSync(directory).find((one) => one.startsWith('pin-')) ?? 'none';
      return JSON.parse(readFileSync(join(directory, name), 'utf8')) as object;
    };
    expect(pinOf(machine)).toEqual(pinOf(owner));
    expect(pinOf(machine)).toMatchObject({ mode: 'e2ee', settings: { rev: 1 } });
  });

  it('is approved only by yes, and a refusal is final', async () => {
    await signUp();
    const { cli, userCode } = await beginOnTerminal();
    for (const answer of ['', 'yes please\n']) {
      const approval = await owner.run(['devices', 'approve', userCode, '--json'], {}, answer);
      expect(approval.code).toBe(1);
      expect(approval.stderr).toContain('"code":"not-confirmed"');
      expect(cli.child.exitCode).toBeNull();
    }
    expect((await owner.run(['devices', 'refuse', userCode])).code).toBe(0);
    await expectEnded(cli, 'device-refused');
  });

  it('shows other words where the server replaces the key, and opens no account', async () => {
    await signUp();
    const { cli, userCode, checkWords, link } = await beginOnTerminal();
    const publicKey = makeX25519Key();
    proxied.swapKey(publicKey);
    const byLink = await owner.run(['devices', 'approve', link, '--yes', '--json']);
    expect(byLink.code).toBe(1);
    expect(byLink.stderr).toContain('"code":"key-mismatch"');
    const unseen = await owner.run(['devices', 'approve', userCode, '--yes', '--json']);
    expect(unseen.code).toBe(2);
    const byCode = await owner.run(['devices', 'approve', userCode, '--json'], {}, 'y\n');
    const [printed] = linesOf(byCode.stdout);
    expect(printed).toMatchObject({ checkWords: deviceKeyWords({ publicKey, origins: [] }) });
    expect(printed?.['checkWords']).not.toEqual(checkWords);
    await expectEnded(cli, 'not-for-this-device');
  });

  it('accepts wrong words not even once more', async () => {
    await signUp();
    const { cli, userCode } = await beginOnTerminal();
    await approveCode(userCode);
    await cli.answer(WORDS_ASKED, 'abandon ability able');
    await expectEnded(cli, 'words-differ');
  });

  it('adds no account that the person does not know', async () => {
    await signUp();
    const { cli, link } = await beginOnTerminal();
    expect((await approveLink(link)).code).toBe(0);
    await cli.answer(OWN_ASKED, 'n');
    await expectEnded(cli, 'not-confirmed');
    const cancelled = await beginOnTerminal();
    expect((await approveLink(cancelled.link)).code).toBe(0);
    await cancelled.cli.until(() => cancelled.cli.stderr().includes(OWN_ASKED));
    cancelled.cli.child.kill('SIGINT');
    await expectEnded(cancelled.cli, 'not-confirmed');
    const named = await begin(['--account', 'another']);
    expect((await approveLink(named.link)).code).toBe(0);
    await expectEnded(named.cli, 'other-account');
  });

  it('needs a terminal, or a link and the name of the account', async () => {
    const { accountId } = await signUp();
    const without = await machine.run(['login', '--server', proxied.url, '--code', '--json']);
    expect(without).toMatchObject({ code: 2, stdout: '' });
    const { cli, userCode } = await begin(['--account', accountId]);
    await approveCode(userCode);
    await expectEnded(cli, 'link-required');
    const alone = await machine.run(['login', '--server', proxied.url, '--account', accountId]);
    expect(alone).toMatchObject({ code: 2, stdout: '' });
  });

  it('ends when the code expires', async () => {
    await signUp();
    const { cli, userCode, link } = await beginOnTerminal();
    await runSql(
      server.databaseUrl,
      `UPDATE device_authorization SET expires_at = now() - interval '1 second' WHERE user_code = $1`,
      [userCode.replace('-', '')],
    );
    const late = await owner.run(['devices', 'approve', link, '--yes', '--json']);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain('"code":"unknown-code"');
    await expectEnded(cli, 'device-expired');
  });

  it('refuses to begin where the computer has a device key already', async () => {
    await signUp();
    const args = ['login', '--server', proxied.url, '--code', '--json', '--account', 'x'];
    const again = await owner.run(args);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('"code":"device-key-exists"');
  });
});

describe('gatehouse devices approve', () => {
  it('refuses to approve without the session of an account with its own key', async () => {
    const { cli, link } = await beginOnTerminal();
    const without = await owner.run(['devices', 'approve', link, '--yes']);
    expect(without.code).toBe(3);
    const other = await createCliUser();
    await signUp();
    await other.run(['signup', '--server', proxied.url]);
    const { stdout: session } = await other.run(['key', 'show']);
    // The user has the key of one account and the session of another.
    const mixed = await createCliUser();
    await mixed.run(['key', 'restore', '--server', proxied.url], {}, session);
    await copySession(owner, mixed);
    const refused = await mixed.run(['devices', 'approve', link, '--yes', '--json']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('"code":"other-account-key"');
    const { token = '' } = (await storeOf(other).session(proxied.url)) ?? {};
    const { body } = await call(server, 'GET', '/v1/account/sessions', { token });
    expect(body['sessions']).toHaveLength(1);
    cli.child.kill('SIGINT');
    await cli.exited;
  });

  it('refuses any other text in place of a code, and does not print it', async () => {
    await signUp();
    const secret = Buffer.alloc(32, 3).toString('base64url');
    const damaged = `https://gate.example/app/device#WDJB-MJHT.short.${secret}`;
    for (const text of ['', 'x', 'ADJB-MJHT', 'https://gate.example/app/device#x', damaged]) {
      const { code, stderr } = await owner.run(['devices', 'approve', text, '--yes', '--json']);
      expect(code).toBe(2);
      expect(stderr).toContain('"code":"usage"');
      expect(stderr).not.toContain(secret);
    }
    expect((await owner.run(['devices', 'approve', '--yes', '-'])).code).toBe(2);
  });

  it('uses a link only for the server that it names, and none of version 1', async () => {
    await signUp();
    const key = makeX25519Key();
    const link = `https://gate.example/app/device#WDJB-MJHT.${key}.${key}`;
    const args = ['devices', 'approve', link, '--yes', '--json'];
    expect((await owner.run(args)).code).toBe(3);
    const { code, stderr } = await owner.run([...args, '--server', proxied.url]);
    expect(code).toBe(2);
    expect(stderr).toContain('gate.example');
    const older = `${proxied.url}/app/device#WDJB-MJHT.${key}`;
    const refused = await owner.run(['devices', 'approve', older, '--yes', '--json']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('"code":"older-device"');
  });
});

describe('gatehouse login --code, without a device key', () => {
  it('transfers only the session, to the account of the requested provider', async () => {
    const fixture = await startLoginFixture({ env: { ...OPTIONAL, ...BEHIND_PROXY } });
    const { url } = fixture.server;
    try {
      const { body } = await keylessLogin(fixture.server, 'anna');
      await saveSession(owner, { server: url, ...body });
      const account = String(body['accountId']);
      const login = async (...flags: string[]) => {
        const args = ['login', '--server', url, '--code', '--json', '--account', account];
        const cli = machine.start([...args, ...flags]);
        await cli.until(() => cli.stdout().includes('\n'));
        const { link } = JSON.parse(cli.stdout().split('\n')[0] ?? '') as PrintedCode;
        expect((await owner.run(['devices', 'approve', link, '--yes'])).code).toBe(0);
        return cli.exited;
      };
      const other = await login('--provider', 'acme');
      expect(other.code).toBe(1);
      expect(other.stderr).toContain('"code":"provider-not-connected"');
      expect((await machine.run(['whoami', '--server', url])).code).toBe(3);
      const { code, stdout } = await login('--provider', 'okta');
      expect(code).toBe(0);
      expect(lastOf(stdout)).toMatchObject({ accountId: body['accountId'] });
      const who = JSON.parse((await machine.run(['whoami', '--json'])).stdout) as object;
      expect(who).toMatchObject({ id: body['accountId'], keyMode: 'keyless' });
      expect((await machine.run(['key', 'show', '--server', url])).code).toBe(3);
    } finally {
      await fixture.stop();
    }
  });
});

async function copySession(source: CliUser, target: CliUser): Promise<void> {
  const session = await storeOf(source).session(proxied.url);
  await storeOf(target).saveSession({ ...session!, server: proxied.url });
}

const storeOf = (user: CliUser): ServerStore =>
  new ServerStore({ XDG_CONFIG_HOME: join(user.configDirectory, '..') });

async function saveSession(user: CliUser, session: Json): Promise<void> {
  await storeOf(user).saveSession(session as unknown as StoredSession);
}
