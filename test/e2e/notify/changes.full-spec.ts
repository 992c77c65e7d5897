import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Notifying, notifyInEachTest } from '../../fixtures/notify-fixture.js';

const TOKEN = 'ExponentPushToken[phone-one]';
const SECRET_REQUEST = ['permission-request', '--session', 's', '--request', 'r'];
const ASK = [...SECRET_REQUEST, '--command', 'cat /secret'];

let fixture: Notifying;

await notifyInEachTest((one) => (fixture = one));

const savedTokens = async (): Promise<string[]> => {
  const list = await fixture.ok<{ token: string }>('tokens', 'list');
  return list.map(({ token }) => token);
};

describe('an event that is sent again', () => {
  it('is reported as failed where it failed, with the command to send it again', async () => {
    let status = 404;
    const receiver = await fixture.webhook('hook', () => ({ status }));
    const send = () => fixture.notify(1, 'ready', '--session', 's', '--id', 'e1');
    expect(await send()).toContain('webhook hook: failed');
    status = 204;
    expect(await send()).toContain('webhook hook: failed');
    expect(receiver.received).toHaveLength(1);
  });

  it('is reported as waiting while it waits, and as delivered once it was sent', async () => {
    let status = 503;
    await fixture.webhook('hook', () => ({ status }));
    const send = (code: number) => fixture.notify(code, 'ready', '--session', 's', '--id', 'e1');
    expect(await send(1)).toContain('webhook hook: waiting');
    expect(await send(1)).toContain('webhook hook: waiting');
    status = 204;
    fixture.letTimePass();
    await fixture.ok('notify', 'flush');
    expect(await send(0)).toContain('webhook hook: known');
  });
});

describe('a delivery whose settings changed before another attempt', () => {
  const refusePushOnce = () => fixture.push.faults.push({ kind: 'status', status: 500 });

  it.each<[string, string[], string]>([
    ['the device was removed', ['tokens', 'remove', TOKEN], 'device-gone'],
    ['push was switched off', ['preferences', 'set', 'pushEnabled=off'], 'switched-off'],
    ['requests were', ['preferences', 'set', 'permissionRequest=off'], 'switched-off'],
    ['request previews were', ['preferences', 'set', 'requestPreviews=off'], 'switched-off'],
  ])('suppresses a push: %s', async (_what, change, code) => {
    await fixture.registerToken(TOKEN);
    refusePushOnce();
    await fixture.notify(1, ...ASK);
    await fixture.ok(...change);
    fixture.letTimePass();
    const [flushed] = await fixture.lines<{ tried: object[] }>(1, 'notify', 'flush');
    expect(flushed?.tried).toMatchObject([{ state: 'failed', code }]);
    expect(fixture.push.accepted).toEqual([]);
  });

  it('sends a push without previews when they were disabled in the meantime', async () => {
    await fixture.registerToken(TOKEN);
    await fixture.ok('preferences', 'set', 'requestPreviews=off');
    refusePushOnce();
    await fixture.notify(1, ...ASK);
    fixture.letTimePass();
    await fixture.ok('notify', 'flush');
    expect(fixture.push.accepted).toHaveLength(1);
    expect(JSON.stringify(fixture.push.accepted)).not.toContain('/secret');
  });

  it('keeps a token that the app has registered again since', async () => {
    await fixture.registerToken(TOKEN);
    fixture.push.receiptProblems.set(TOKEN, { error: 'DeviceNotRegistered', expoPushToken: TOKEN });
    await fixture.notify(0, 'ready', '--session', 's1');
    await sleep(50);
    await fixture.registerToken(TOKEN);
    fixture.letTimePass();
    await fixture.run('notify', 'receipts');
    expect(await savedTokens()).toEqual([TOKEN]);
  });
});

it('reports a channel with an endless url as failed, and notifies the others', async () => {
  const receiver = await fixture.webhook('good');
  const file = join(fixture.user.home, 'settings.json');
  const long = { id: 'long', url: `https://hook.example/${'x'.repeat(70_000)}` };
  const channels = [long, { id: 'good', url: receiver.url }];
  await writeFile(file, JSON.stringify({ notificationChannelsV1: channels }));
  expect(await fixture.notify(1, 'ready', '--session', 's', '--settings-file', file)).toEqual([
    'push null: no-target',
    'webhook long: failed',
    'webhook good: sent',
  ]);
});
