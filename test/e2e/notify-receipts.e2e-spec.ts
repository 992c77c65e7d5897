import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '../helpers/server.js';
import { Notifying, startPlainServer } from './notify-world.js';

const [GONE, OTHER, FINE] = ['gone', 'other', 'fine'].map((name) => `ExponentPushToken[${name}]`);

let server: Server;
let world: Notifying;

beforeAll(async () => {
  server = await startPlainServer();
  world = await Notifying.start(server);
});

afterAll(async () => {
  await world.stop();
  await server.stop();
});

/** Makes everything that waits due: the name of its file holds the time. */
const letTimePass = (): void => {
  const queue = join(world.stateHome, 'gatehouse', 'spool', 'queue');
  for (const name of readdirSync(queue)) {
    const [key, lane, , ...rest] = name.split('.');
    renameSync(join(queue, name), join(queue, [key, lane, '1', ...rest].join('.')));
  }
};

describe('gatehouse notify receipts', () => {
  it('asks no sooner than 15 minutes later, and removes only the token that a receipt names', async () => {
    const tokens = [GONE ?? '', OTHER ?? '', FINE ?? ''];
    for (const token of tokens) {
      await world.registerToken(token);
    }
    world.push.receiptProblems.set(GONE ?? '', { error: 'DeviceNotRegistered' });
    const named = { error: 'DeviceNotRegistered', expoPushToken: 'ExponentPushToken[elsewhere]' };
    world.push.receiptProblems.set(OTHER ?? '', named);
    await world.notify(0, 'ready', '--session', 's1');
    const [early] = await world.ok('notify', 'receipts');
    expect(early).toEqual({ receipts: [], waiting: 3 });
    expect(world.push.receiptBatches).toEqual([]);
    letTimePass();
    const [late] = await world.lines<{ receipts: { state: string }[] }>(1, 'notify', 'receipts');
    expect(late?.receipts.map(({ state }) => state).sort()).toEqual([
      'delivered',
      'failed',
      'failed',
    ]);
    const left = await world.ok<{ token: string }>('tokens', 'list');
    expect(left.map(({ token }) => token).sort()).toEqual([FINE, OTHER]);
    expect(await world.ok('notify', 'receipts')).toEqual([{ receipts: [], waiting: 0 }]);
  });

  it('sends the generic text where a receipt says that the message was too large', async () => {
    world.push.accepted.length = 0;
    world.push.receiptProblems.set(FINE ?? '', { error: 'MessageTooBig' });
    const request = ['--session', 's3', '--request', 'r1', '--tool', 'Bash'];
    await world.notify(0, 'permission-request', ...request, '--command', 'npm test');
    expect(world.push.accepted.map(({ body }) => body)).toContain(
      'Bash needs your permission: npm test',
    );
    world.push.accepted.length = 0;
    letTimePass();
    const [answer] = await world.lines<{ receipts: object[] }>(1, 'notify', 'receipts');
    expect(answer?.receipts).toContainEqual(
      expect.objectContaining({ state: 'failed', code: 'message-too-big', generic: 'sent' }),
    );
    expect(world.push.accepted).toEqual([
      expect.objectContaining({ to: FINE, body: 'Something needs your permission to go on.' }),
    ]);
    world.push.receiptProblems.delete(FINE ?? '');
    letTimePass();
    const [again] = await world.ok<{ receipts: object[] }>('notify', 'receipts');
    expect(again?.receipts).toEqual([expect.objectContaining({ state: 'delivered' })]);
  });

  it('asks again later for what is not known yet', async () => {
    world.push.receiptProblems.set(FINE ?? '', null);
    await world.notify(0, 'ready', '--session', 's2');
    letTimePass();
    const [answer] = await world.lines<{ waiting: number }>(1, 'notify', 'receipts');
    expect(answer).toMatchObject({ waiting: 1 });
  });
});
