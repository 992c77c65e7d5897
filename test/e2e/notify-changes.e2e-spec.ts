import { readdirSync, renameSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../helpers/server.js';
import { Notifying, startPlainServer } from './notify-world.js';

const TOKEN = 'ExponentPushToken[phone-one]';
const SECRET_REQUEST = ['permission-request', '--session', 's', '--request', 'r'];
const ASK = [...SECRET_REQUEST, '--command', 'cat /secret'];

let server: Server;
let world: Notifying;

beforeAll(async () => {
  server = await startPlainServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  world = await Notifying.start(server);
});

afterEach(() => world.stop());

/** As if all that waits had become due. */
function letTimePass(): void {
  const queue = join(world.stateHome, 'gatehouse', 'spool', 'queue');
  for (const name of readdirSync(queue)) {
    const [key, lane, , ...rest] = name.split('.');
    renameSync(join(queue, name), join(queue, [key, lane, '1', ...rest].join('.')));
  }
}

const savedTokens = async (): Promise<string[]> => {
  const list = await world.ok<{ token: string }>('tokens', 'list');
  return list.map(({ token }) => token);
};

describe('an event that is sent again', () => {
  it('has not been delivered where it failed, and says how to send it', async () => {
    let status = 404;
    const receiver = await world.webhook('hook', () => ({ status }));
    const send = () => world.notify(1, 'ready', '--session', 's', '--id', 'e1');
    expect(await send()).toContain('webhook hook: failed');
    status = 204;
    expect(await send()).toContain('webhook hook: failed');
    expect(receiver.received).toHaveLength(1);
  });

  it('has not been delivered while it waits, and has once it was sent', async () => {
    let status = 503;
    await world.webhook('hook', () => ({ status }));
    const send = (code: number) => world.notify(code, 'ready', '--session', 's', '--id', 'e1');
    expect(await send(1)).toContain('webhook hook: waiting');
    expect(await send(1)).toContain('webhook hook: waiting');
    status = 204;
    letTimePass();
    await world.ok('notify', 'flush');
    expect(await send(0)).toContain('webhook hook: known');
  });
});

describe('what changed before another try', () => {
  const refusePushOnce = () => world.push.faults.push({ kind: 'status', status: 500 });

  it.each<[string, string[], string]>([
    ['the device was removed', ['tokens', 'remove', TOKEN], 'device-gone'],
    ['push was switched off', ['preferences', 'set', 'pushEnabled=off'], 'switched-off'],
    ['requests were', ['preferences', 'set', 'permissionRequest=off'], 'switched-off'],
    ['request previews were', ['preferences', 'set', 'requestPreviews=off'], 'switched-off'],
  ])('keeps a push back: %s', async (_what, change, code) => {
    await world.registerToken(TOKEN);
    refusePushOnce();
    await world.notify(1, ...ASK);
    await world.ok(...change);
    letTimePass();
    const [flushed] = await world.lines<{ tried: object[] }>(1, 'notify', 'flush');
    expect(flushed?.tried).toMatchObject([{ state: 'failed', code }]);
    expect(world.push.accepted).toEqual([]);
  });

  it('still sends a push without previews when they are disabled', async () => {
    await world.registerToken(TOKEN);
    await world.ok('preferences', 'set', 'requestPreviews=off');
    refusePushOnce();
    await world.notify(1, ...ASK);
    letTimePass();
    await world.ok('notify', 'flush');
    expect(world.push.accepted).toHaveLength(1);
    expect(JSON.stringify(world.push.accepted)).not.toContain('/secret');
  });

  it('leaves a token alone that the app has registered again since', async () => {
    await world.registerToken(TOKEN);
    world.push.receiptProblems.set(TOKEN, { error: 'DeviceNotRegistered', expoPushToken: TOKEN });
    await world.notify(0, 'ready', '--session', 's1');
    await sleep(50);
    await world.registerToken(TOKEN);
    letTimePass();
    await world.run('notify', 'receipts');
    expect(await savedTokens()).toEqual([TOKEN]);
  });
});

it('a channel with an endless url fails, and the others are notified', async () => {
  const receiver = await world.webhook('good');
  const file = join(world.user.home, 'settings.json');
  const long = { id: 'long', url: `https://hook.example/${'x'.repeat(70_000)}` };
  const channels = [long, { id: 'good', url: receiver.url }];
  await writeFile(file, JSON.stringify({ notificationChannelsV1: channels }));
  expect(await world.notify(1, 'ready', '--session', 's', '--settings-file', file)).toEqual([
    'push null: no-target',
    'webhook long: failed',
    'webhook good: sent',
  ]);
});
