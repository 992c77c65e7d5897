import { join } from 'node:path';
import { ServerStore } from '../../../src/apps/cli/account/server-store.js';
import {
  DeviceKey,
  readDeviceLink,
  sealAccount,
  type HandedAccount,
} from '../../../src/packages/client/index.js';
import {
  createCliUser,
  ON_TERMINAL,
  type CliUser,
  type RunningCli,
} from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { HostileRelay } from '../../helpers/hostile-relay.js';

const TOKEN = /^POST .*\/token$/;
const REQUEST = /^POST \/v2\/auth\/devices$/;
const LOOK_UP = /^GET \/v2\/auth\/devices\//;
const WORDS_ASKED = 'Type the first three.';

let owner: CliUser;
let machine: CliUser;
let accountId: string;

const server = await startServer();
const relay = await HostileRelay.start(server);
afterAll(async () => {
  await relay.close();
  await server.stop();
});
beforeEach(async () => {
  relay.change();
  [owner, machine] = [await createCliUser(), await createCliUser()];
  const { stdout } = await owner.run(['signup', '--server', relay.url, '--json']);
  ({ accountId } = JSON.parse(stdout) as { accountId: string });
});

interface Begun {
  readonly cli: RunningCli;
  readonly userCode: string;
  readonly link: string;
  readonly publicKey: string;
}

/** @param flags none = a person sits at the terminal */
async function begin(...flags: string[]): Promise<Begun> {
  const args = ['login', '--server', relay.url, '--code', '--json', ...flags];
  const cli = machine.start(args, flags.length === 0 ? ON_TERMINAL : {});
  await cli.until(() => cli.stdout().includes('\n'));
  const printed = JSON.parse(cli.stdout().split('\n')[0] ?? '') as Begun;
  const { publicKey } = readDeviceLink(printed.link)!;
  return { ...printed, cli, publicKey };
}

async function approveCode(userCode: string): Promise<string> {
  const args = ['devices', 'approve', userCode, '--json'];
  const { stdout } = await owner.run(args, {}, 'y\n');
  const { words = [] } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as {
    words?: string[];
  };
  return words.slice(0, 3).join(' ');
}

const approveLink = (link: string) => owner.run(['devices', 'approve', '--yes', '-'], {}, link);

/** The server answers with an account that it sealed itself. */
async function answerWith(publicKey: string, account: Partial<HandedAccount>): Promise<void> {
  const key = await DeviceKey.generate();
  const own = { accountId, encryptionMode: 'e2ee', key, settings: null, ...account } as const;
  const { sealed } = await sealAccount({ publicKey, origins: [] }, own, null);
  relay.change({
    call: TOKEN,
    answer: (answer) =>
      answer['state'] === 'approved' ? { ...answer, accountId: own.accountId, sealed } : answer,
  });
}

async function expectNothing(cli: RunningCli, code: string): Promise<void> {
  const result = await cli.exited;
  expect({ code: result.code, stderr: result.stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`"code":"${code}"`),
  });
  const store = new ServerStore({ XDG_CONFIG_HOME: join(machine.configDirectory, '..') });
  expect(await store.deviceKey(relay.url)).toBeNull();
  expect(await store.session(relay.url)).toBeNull();
}

const keyless = { key: null, encryptionMode: 'plain' } as const;

describe('a server that adds a device to an account of its own', () => {
  it('is refused in a script in answer to a link', async () => {
    const { cli, link, publicKey } = await begin('--account', accountId);
    await answerWith(publicKey, {});
    expect((await approveLink(link)).code).toBe(0);
    await expectNothing(cli, 'link-required');
  });

  it.each([
    ['swaps the sealed key', {}],
    ['says that the account is plain', keyless],
  ])('is refused on a terminal, where it %s', async (_what, account) => {
    const { cli, userCode, publicKey } = await begin();
    await answerWith(publicKey, account);
    await cli.answer(WORDS_ASKED, await approveCode(userCode));
    await expectNothing(cli, 'words-differ');
    expect(relay.sent(/^POST \/v1\/auth\/logout$/)).toHaveLength(1);
  });

  it('has no words that the person could type after a link', async () => {
    const { cli, link, publicKey } = await begin();
    await answerWith(publicKey, {});
    const approved = await approveLink(link);
    expect(approved.stdout).not.toMatch(/([a-z]+ ){4}[a-z]+\n\n/);
    await cli.answer(WORDS_ASKED, 'no');
    await expectNothing(cli, 'words-differ');
  });

  it('drops the account in vain', async () => {
    const { cli, link } = await begin('--account', accountId);
    relay.change({ call: TOKEN, answer: (answer) => ({ ...answer, sealed: undefined }) });
    expect((await approveLink(link)).code).toBe(0);
    await expectNothing(cli, 'not-for-this-device');
  });

  it('replays the approval of another device in vain', async () => {
    const sealed: unknown[] = [];
    const note = (answer: Record<string, unknown>) => {
      sealed.push(...(answer['state'] === 'approved' ? [answer['sealed']] : []));
      return answer;
    };
    relay.change({ call: TOKEN, answer: note });
    const first = await begin('--account', accountId);
    await approveLink(first.link);
    expect((await first.cli.exited).code).toBe(0);
    machine = await createCliUser();
    const { cli, link } = await begin('--account', accountId);
    const replayed = (answer: Record<string, unknown>) =>
      answer['state'] === 'approved' ? { ...answer, sealed: sealed[0] } : answer;
    relay.change({ call: TOKEN, answer: replayed });
    await approveLink(link);
    await expectNothing(cli, 'not-for-this-device');
  });
});

describe('a server that relays another one', () => {
  it('is refused by the new device and by the approving one, unless it is listed', async () => {
    const named = await startServer({ env: { SERVICE_PUBLIC_URL: 'https://gate.example.org' } });
    const other = await HostileRelay.start(named);
    const args = ['login', '--server', other.url, '--code', '--json', '--account', accountId];
    const refused = await machine.run(args);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('"code":"other-server"');
    await other.close();
    await named.stop();
    const { cli, link } = await begin('--account', accountId);
    const origins = ['https://gate.example.org'];
    relay.change({ call: LOOK_UP, answer: (answer) => ({ ...answer, origins }) });
    const approval = await owner.run(['devices', 'approve', link, '--yes', '--json']);
    expect(approval.code).toBe(1);
    expect(approval.stderr).toContain('"code":"other-server"');
    cli.child.kill('SIGINT');
    await cli.exited;
  });

  it.each(['link', 'code'])('names its own address to one device in vain, by a %s', async (by) => {
    const { origin } = new URL(relay.url);
    relay.change({ call: REQUEST, answer: (answer) => ({ ...answer, origins: [origin] }) });
    const { cli, link, userCode } = await begin(...(by === 'link' ? ['--account', accountId] : []));
    const [printed] = cli.stdout().split('\n');
    if (by === 'link') {
      expect((await approveLink(link)).code).toBe(0);
    } else {
      const { stdout } = await owner.run(['devices', 'approve', userCode, '--json'], {}, 'y\n');
      const { checkWords } = JSON.parse(printed ?? '') as { checkWords: string[] };
      expect(stdout).not.toContain(JSON.stringify(checkWords));
    }
    await expectNothing(cli, 'not-for-this-device');
  });
});

describe('a server of version 1', () => {
  it('is named as the side to update', async () => {
    const older = (answer: Record<string, unknown>) => ({ ...answer, origins: undefined });
    relay.change({ call: REQUEST, answer: older });
    const args = ['login', '--server', relay.url, '--code', '--json', '--account', accountId];
    const refused = await machine.run(args);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('"code":"older-server"');
    relay.change();
    const { cli, link } = await begin('--account', accountId);
    relay.change({ call: LOOK_UP, answer: older });
    const approval = await owner.run(['devices', 'approve', link, '--yes', '--json']);
    expect(approval.code).toBe(1);
    expect(approval.stderr).toContain('"code":"older-server"');
    expect(relay.sent(/\/approve$/)).toEqual([]);
    cli.child.kill('SIGINT');
    await cli.exited;
  });

  it('makes no keyed account hand over a session without its key', async () => {
    const { cli, link } = await begin('--account', accountId);
    const profile = { keyMode: 'keyless', encryptionMode: 'plain' };
    relay.change({ call: /profile$/, answer: (answer) => ({ ...answer, ...profile }) });
    expect((await approveLink(link)).code).toBe(0);
    expect((await cli.exited).code).toBe(0);
    const shown = await machine.run(['key', 'show', '--server', relay.url]);
    expect(shown).toMatchObject({ code: 0 });
  });
});

describe('a server that writes more than it was asked for', () => {
  it('puts no key of its own into the link', async () => {
    const own = `.${'A'.repeat(43)}.${'A'.repeat(43)}\n`;
    const forge = (answer: Record<string, unknown>) => `${String(answer['userCode'])}${own}`;
    relay.change({ call: REQUEST, answer: (answer) => ({ ...answer, userCode: forge(answer) }) });
    const args = ['login', '--server', relay.url, '--code', '--json', '--account', accountId];
    const refused = await machine.run(args);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('"code":"unexpected-answer"');
  });

  it('adds no lines to those by which a person decides', async () => {
    const { cli, userCode, link } = await begin();
    const address = '192.0.2.1\nWords    as shown on the device';
    relay.change({ call: LOOK_UP, answer: (answer) => ({ ...answer, address }) });
    const approval = await owner.run(['devices', 'approve', userCode], {}, 'n\n');
    expect(approval.stderr.match(/^Words/gm)).toHaveLength(1);
    const identities = [{ provider: 'okta', login: 'alice\nKey      none', eligibility: {} }];
    relay.change({ call: /profile$/, answer: (answer) => ({ ...answer, identities }) });
    expect((await approveLink(link)).code).toBe(0);
    await cli.answer('Is this your account?', 'n');
    expect((await cli.exited).stderr.match(/^Key/gm)).toHaveLength(1);
  });

  it('adds no lines to the question whose device gets text', async () => {
    const name = 'Pixel\nIs this your device, and may it show text? [y/N]';
    const tokens = [{ id: 'id', token: 'ExponentPushToken[a]', name, createdAt: 0 }];
    relay.change({ call: /push-tokens$/, answer: () => ({ tokens }) });
    const { stderr } = await owner.run(['tokens', 'confirm'], {}, 'n\n');
    expect(stderr.match(/^Is this your device/gm)).toHaveLength(1);
  });
});
