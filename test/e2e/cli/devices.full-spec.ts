import { join } from 'node:path';
import { ServerStore, type StoredSession } from '../../../src/cli/account/server-store.js';
import { drawQr } from '../../../src/cli/account/terminal-qr.js';
import { deviceCheckWords, readDeviceLink } from '../../../src/client/index.js';
import {
  createCliUser,
  type CliUser,
  type RunningCli,
} from '../../fixtures/programs/cli-fixture.js';
import type { Json } from '../../helpers/client.js';
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
  await Promise.all([owner.remove(), machine.remove()]);
});

interface PrintedCode {
  readonly userCode: string;
  readonly link: string;
  readonly checkWords: readonly string[];
}

async function begin(...flags: string[]): Promise<PrintedCode & { readonly cli: RunningCli }> {
  const cli = machine.start(['login', '--server', proxied.url, '--code', '--json', ...flags]);
  await cli.until(() => cli.stdout().includes('\n'));
  return { cli, ...(JSON.parse(cli.stdout().split('\n')[0] ?? '') as PrintedCode) };
}

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

async function expectNothingStored(): Promise<void> {
  const at = ['--server', proxied.url];
  expect((await machine.run(['key', 'show', ...at])).code).toBe(3);
  expect((await machine.run(['whoami', ...at])).code).toBe(3);
}

describe('gatehouse login --code', () => {
  it('shows a QR code, a short code and the check words on a terminal', async () => {
    const cli = machine.start(['login', '--server', proxied.url, '--code']);
    await cli.until(() => cli.stderr().includes('Waiting'));
    const printed = cli.stderr();
    const [, link = ''] = /^ {2}(http\S+)$/m.exec(printed) ?? [];
    const read = readDeviceLink(link);
    expect(read).toMatchObject({ serverUrl: proxied.url });
    expect(printed).toContain(drawQr(link, false));
    expect(printed).toContain(`gatehouse devices approve ${read?.userCode}`);
    expect(printed).toContain(`:  ${deviceCheckWords(read?.publicKey ?? '').join(' ')}\n`);
    cli.child.kill('SIGINT');
    await cli.exited;
    await expectNothingStored();
  });

  it('receives the account and its key after the check words were compared', async () => {
    const { accountId } = await signUp();
    const { cli, userCode, checkWords } = await begin();
    const approved = await owner.run(['devices', 'approve', userCode.toLowerCase()], {}, 'y\n');
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('Approved') });
    expect(approved.stderr).toContain(`Check words  ${checkWords.join(' ')}\n`);
    expect(approved.stderr).toContain(process.platform);
    const { code, stdout } = await cli.exited;
    expect(code).toBe(0);
    expect(lastOf(stdout)).toEqual({ server: proxied.url, accountId, created: false });
    expect((await machine.run(['key', 'show'])).stdout).toBe(
      (await owner.run(['key', 'show'])).stdout,
    );
    const who = await machine.run(['whoami', '--json']);
    expect(JSON.parse(who.stdout)).toMatchObject({ id: accountId, keyMode: 'keyed' });
    expect((await owner.run(['whoami'])).code).toBe(0);
    expect(await machine.run(['login', '--json'])).toMatchObject({ code: 0 });
  });

  it('is approved only by yes, and a refusal is final', async () => {
    await signUp();
    const { cli, userCode } = await begin();
    for (const answer of ['', 'yes please\n']) {
      const approval = await owner.run(['devices', 'approve', userCode, '--json'], {}, answer);
      expect(approval.code).toBe(1);
      expect(approval.stderr).toContain('"code":"not-confirmed"');
      expect(cli.child.exitCode).toBeNull();
    }
    expect((await owner.run(['devices', 'refuse', userCode])).code).toBe(0);
    const { code, stderr } = await cli.exited;
    expect(code).toBe(1);
    expect(stderr).toContain('"code":"device-refused"');
    await expectNothingStored();
  });

  it('shows other check words where the server replaces the key, and opens no secret', async () => {
    await signUp();
    const { cli, userCode, checkWords, link } = await begin();
    const key = makeX25519Key();
    proxied.swapKey(key);
    const byLink = await owner.run(['devices', 'approve', link, '--yes', '--json']);
    expect(byLink.code).toBe(1);
    expect(byLink.stderr).toContain('"code":"key-mismatch"');
    const byCode = await owner.run(['devices', 'approve', userCode, '--yes', '--json']);
    const [printed] = linesOf(byCode.stdout);
    expect(printed).toMatchObject({ checkWords: deviceCheckWords(key) });
    expect(printed?.['checkWords']).not.toEqual(checkWords);
    const { code, stderr } = await cli.exited;
    expect(code).toBe(1);
    expect(stderr).toContain('"code":"not-for-this-device"');
    await expectNothingStored();
  });

  it('ends when the code expires', async () => {
    await signUp();
    const { cli, userCode } = await begin();
    await runSql(
      server.databaseUrl,
      `UPDATE device_authorization SET expires_at = now() - interval '1 second' WHERE user_code = $1`,
      [userCode.replace('-', '')],
    );
    const late = await owner.run(['devices', 'approve', userCode, '--yes', '--json']);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain('"code":"unknown-code"');
    const { code, stderr } = await cli.exited;
    expect(code).toBe(1);
    expect(stderr).toContain('"code":"device-expired"');
    await expectNothingStored();
  });

  it('refuses to begin where the computer has a device key already', async () => {
    await signUp();
    const again = await owner.run(['login', '--server', proxied.url, '--code', '--json']);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('"code":"device-key-exists"');
  });

  it('refuses any other way to log in next to --code', async () => {
    for (const flags of [['--keyless'], ['--certificate', 'x'], ['--key', 'x']]) {
      const { code, stdout } = await machine.run(['login', '--code', ...flags]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    }
  });
});

describe('gatehouse devices approve', () => {
  it('refuses to approve without the session of an account with its own key', async () => {
    const { cli, link, userCode } = await begin();
    const without = await owner.run(['devices', 'approve', link, '--yes']);
    expect(without.code).toBe(3);
    const other = await createCliUser();
    await signUp();
    await other.run(['signup', '--server', proxied.url]);
    const { stdout: session } = await other.run(['key', 'show']);
    await other.remove();
    // The user has the key of one account and the session of another.
    const mixed = await createCliUser();
    await mixed.run(['key', 'restore', '--server', proxied.url], {}, session);
    await copySession(owner, mixed);
    const refused = await mixed.run(['devices', 'approve', userCode, '--yes', '--json']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('"code":"other-account-key"');
    await mixed.remove();
    cli.child.kill('SIGINT');
    await cli.exited;
  });

  it('refuses any other text in place of a code', async () => {
    await signUp();
    for (const text of ['', 'x', 'ADJB-MJHT', 'https://gate.example/app/device#x']) {
      const { code, stderr } = await owner.run(['devices', 'approve', text, '--yes', '--json']);
      expect(code).toBe(2);
      expect(stderr).toContain('"code":"usage"');
    }
  });

  it('uses a link only for the server that it names', async () => {
    await signUp();
    const link = `https://gate.example/app/device#WDJB-MJHT.${makeX25519Key()}`;
    const args = ['devices', 'approve', link, '--yes', '--json'];
    expect((await owner.run(args)).code).toBe(3);
    const { code, stderr } = await owner.run([...args, '--server', proxied.url]);
    expect(code).toBe(2);
    expect(stderr).toContain('gate.example');
  });
});

describe('gatehouse login --code, without a device key', () => {
  it('transfers only the session, to the account of the requested provider', async () => {
    const fixture = await startLoginFixture({ env: { ...OPTIONAL, ...BEHIND_PROXY } });
    const { url } = fixture.server;
    try {
      const { body } = await keylessLogin(fixture.server, 'anna');
      await saveSession(owner, { server: url, ...body });
      const login = async (...flags: string[]) => {
        const cli = machine.start(['login', '--server', url, '--code', '--json', ...flags]);
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
