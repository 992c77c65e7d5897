import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
import { parseDeviceKey } from '../../../src/packages/client/crypto/key-text.js';
import { requestKeys } from '../../../src/packages/client/crypto/request-keys.js';
import { AccountRequests } from '../../../src/packages/client/approvals/account-requests.js';
import {
  answerRequest,
  openRequest,
} from '../../../src/packages/client/approvals/answer-request.js';
import type { RunningCli } from '../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { Notifying } from '../../fixtures/notify-fixture.js';
import { logIn, makeDeviceKey } from '../../helpers/client.js';
import { HoldingProxy, type HeldAt } from '../../helpers/holding-proxy.js';
import { waitFor } from '../../helpers/wait.js';

const CREATE = /^POST \/v1\/requests$/;
const WAIT = /^GET \/v1\/requests\/[\w-]+\?waitSeconds=/;
const ANSWER = /^POST \/v1\/requests\/[\w-]+\/answer$/;
const CLOSE = /^DELETE \/v1\/requests\/[\w-]+(\?|$)/;

let server: Server;
let proxy: HoldingProxy;
let asker: Notifying;
/** The phone of the person, which has the key of the account. */
let phone: GatehouseClient['requests'];
let keys: AccountRequests;

beforeAll(async () => {
  server = await startServer();
  proxy = await HoldingProxy.start(server);
  asker = await Notifying.start({ ...server, url: proxy.url });
  await asker.webhook('phone');
  const { stdout } = await asker.user.run(['key', 'show']);
  const secret = parseDeviceKey(stdout.trim());
  const { token, accountId } = await logIn(server, makeDeviceKey(Buffer.from(secret)));
  keys = new AccountRequests(requestKeys(secret), accountId);
  phone = new GatehouseClient({ serverUrl: proxy.url, token }).requests;
});

afterAll(async () => {
  await asker.stop();
  await proxy.close();
  await server.stop();
});

const ask = (): RunningCli =>
  asker.start('ask', 'permission', '--tool', 'Bash', '--command', 'npm test');

/** Resolves to the id of an open request without an answer. */
const asked = (other?: string): Promise<string> =>
  waitFor('a request waits', async () => {
    const open = await phone.list().catch(() => []);
    return open.find(({ id, answers }) => id !== other && answers === 0)?.id;
  });

async function allow(id: string): Promise<void> {
  const isKnownServer = () => true;
  const opened = await openRequest(phone, id, { requests: keys, isKnownServer });
  if (opened.kind !== 'opened') {
    throw new Error(`The request is ${opened.kind}.`);
  }
  await answerRequest(phone, keys, opened, 'allow');
}

/** The requests that the computer still has to end, by the names of their files. */
const unsettled = (): readonly string[] => {
  const directory = join(asker.stateHome, 'gatehouse/asked');
  return readdirSync(directory).filter((name) => name.endsWith('.json'));
};

/** Asks once more, and is allowed. Then nothing is left of the requests before. */
async function asksAgain(before?: string): Promise<void> {
  const again = ask();
  await allow(await asked(before));
  expect(await again.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
  expect(await phone.list()).toEqual([]);
  expect(unsettled()).toEqual([]);
}

/** True once it has an answer. A program that cannot report its use leaves the request open until the next one asks. */
const isAnswered = async (id: string): Promise<boolean> =>
  !(await phone.list()).some((open) => open.id === id && open.answers === 0);

const stateOf = async (id: string): Promise<string> => (await phone.read(id)).state;

describe('gatehouse ask, killed', () => {
  it.each<[string, RegExp, HeldAt]>([
    ['before it stores the request', /^GET \/v2\/account\/settings/, 'request'],
    ['before the server has the request', CREATE, 'request'],
  ])('leaves nothing when it is killed %s', async (_when, call, at) => {
    const held = proxy.hold(call, at);
    const killed = ask();
    await held;
    killed.child.kill('SIGKILL');
    expect(await killed.exited).toMatchObject({ stdout: '' });
    (await held).release();
    expect(await phone.list()).toEqual([]);
    await asksAgain();
  });

  it.each<[string, RegExp, HeldAt]>([
    ['before it knows that the server has the request', CREATE, 'answer'],
    ['before it waits', WAIT, 'request'],
  ])('is withdrawn by the next request when it is killed %s', async (_when, call, at) => {
    const held = proxy.hold(call, at);
    const killed = ask();
    await held;
    killed.child.kill('SIGKILL');
    expect(await killed.exited).toMatchObject({ stdout: '' });
    (await held).release();
    const id = await asked();
    await asksAgain(id);
    expect(await stateOf(id)).toBe('withdrawn');
  });

  it.each<[string, RegExp, HeldAt, string, string]>([
    ['before it uses the answer', WAIT, 'answer', 'open', 'withdrawn'],
    ['before the server knows that the answer is used', CLOSE, 'request', 'open', 'answered'],
    ['before it prints the answer', CLOSE, 'answer', 'answered', 'answered'],
  ])('prints nothing when it is killed %s', async (_when, call, at, before, after) => {
    const held = proxy.hold(call, at);
    const killed = ask();
    const id = await asked();
    await allow(id);
    await held;
    killed.child.kill('SIGKILL');
    expect(await killed.exited).toMatchObject({ stdout: '' });
    (await held).release();
    expect(await stateOf(id)).toBe(before);
    await asksAgain(id);
    expect(await stateOf(id)).toBe(after);
  });
});

describe('gatehouse ask, interrupted after an answer was used', () => {
  it('prints that answer and exits with its code', async () => {
    const held = proxy.hold(CLOSE, 'answer');
    const interrupted = ask();
    const id = await asked();
    await allow(id);
    await held;
    interrupted.child.kill('SIGTERM');
    (await held).release();
    expect(await interrupted.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
    await asksAgain(id);
  });
});

describe('gatehouse ask, while its server is killed', () => {
  it.each<[string, RegExp, HeldAt]>([
    ['before it has the request', CREATE, 'request'],
    ['before it acknowledges the request', CREATE, 'answer'],
    ['before a call waits', WAIT, 'request'],
    ['before it has the answer', ANSWER, 'request'],
    ['before it acknowledges the answer', ANSWER, 'answer'],
    ['before it returns the answer', WAIT, 'answer'],
    ['before it knows that the answer is used', CLOSE, 'request'],
    ['after the answer is used', CLOSE, 'answer'],
  ])('prints the answer once when the server is killed %s', async (_when, call, at) => {
    const held = proxy.hold(call, at);
    const asking = ask();
    const known = asked();
    const answering = known.then((id) =>
      waitFor('the answer', () =>
        allow(id).then(
          () => true,
          () => isAnswered(id).catch(() => false),
        ),
      ),
    );
    await held;
    await server.kill('SIGKILL');
    (await held).drop();
    server = await server.restart();
    expect(await asking.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
    await answering;
    await asksAgain(await known);
    expect(await stateOf(await known)).toBe('answered');
  });
});
