import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningCli } from '../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { Notifying } from '../../fixtures/notify-fixture.js';
import { Phone } from '../../fixtures/phone-fixture.js';
import { HoldingProxy, type HeldAt } from '../../helpers/holding-proxy.js';
import { waitFor } from '../../helpers/wait.js';

const CREATE = /^POST \/v1\/requests$/;
const WAIT = /^GET \/v1\/requests\/[\w-]+\?waitSeconds=/;
const ANSWER = /^POST \/v1\/requests\/[\w-]+\/answer$/;
const CLOSE = /^DELETE \/v1\/requests\/[\w-]+(\?|$)/;

let server: Server;
let proxy: HoldingProxy;
let asker: Notifying;
let phone: Phone;

beforeAll(async () => {
  server = await startServer();
  proxy = await HoldingProxy.start(server);
  asker = await Notifying.start({ ...server, url: proxy.url });
  await asker.webhook('phone');
  phone = await Phone.of(asker);
});

afterAll(async () => {
  await asker.stop();
  await proxy.close();
  await server.stop();
});

const ask = (): RunningCli =>
  asker.start('ask', 'permission', '--tool', 'Bash', '--command', 'npm test');

/** The requests that the computer still has to end, by the names of their files. */
const unsettled = (): readonly string[] => {
  const directory = join(asker.stateHome, 'gatehouse/asked');
  return readdirSync(directory).filter((name) => name.endsWith('.json'));
};

/** Asks once more, and is allowed. Then nothing is left of the requests before. */
async function asksAgain(before?: string): Promise<void> {
  const again = ask();
  await phone.answer(await phone.asked(before), 'allow');
  expect(await again.exited).toMatchObject({ code: 0, stdout: 'allow\n' });
  expect(await phone.routes.list()).toEqual([]);
  expect(unsettled()).toEqual([]);
}

/** True once it has an answer. A program that cannot report its use leaves the request open until the next one asks. */
const isAnswered = async (id: string): Promise<boolean> =>
  !(await phone.routes.list()).some((open) => open.id === id && open.answers === 0);

const stateOf = async (id: string): Promise<string> => (await phone.routes.read(id)).state;

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
    expect(await phone.routes.list()).toEqual([]);
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
    const id = await phone.asked();
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
    const id = await phone.asked();
    await phone.answer(id, 'allow');
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
    const id = await phone.asked();
    await phone.answer(id, 'allow');
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
    const known = phone.asked();
    const answering = known.then((id) =>
      waitFor('the answer', () =>
        phone.answer(id, 'allow').then(
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
