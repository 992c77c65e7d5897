import { readdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventLine, type Notifying, notifyInEachTest } from '../../fixtures/notify-fixture.js';

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
    [
      'request previews were switched off',
      ['preferences', 'set', 'requestPreviews=off'],
      'switched-off',
    ],
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

async function endTheirTime({ stateHome }: Notifying): Promise<void> {
  const queue = join(stateHome, 'gatehouse', 'spool', 'queue');
  for (const name of readdirSync(queue)) {
    const entry = JSON.parse(await readFile(join(queue, name), 'utf8')) as { delivery: object };
    const over = { ...entry, delivery: { ...entry.delivery, expiresAt: 1 } };
    await writeFile(join(queue, name), JSON.stringify(over));
    const [key, lane, dueAt] = name.split('.');
    await rename(join(queue, name), join(queue, `${key}.${lane}.${dueAt}.1.json`));
  }
}

describe('a delivery on disk', () => {
  it('drops outdated deliveries with a report, and sends none of them late', async () => {
    const receiver = await fixture.webhook('hook', (_request, count) => ({
      status: count === 1 ? 503 : 204,
    }));
    expect(await fixture.notify(1, 'ready', '--session', 's')).toContain('webhook hook: waiting');
    await endTheirTime(fixture);
    const [flushed] = await fixture.lines<{ tried: object[] }>(1, 'notify', 'flush');
    expect(flushed?.tried).toMatchObject([{ state: 'dropped', code: 'expired' }]);
    expect(receiver.received).toHaveLength(1);
    const { stdout } = await fixture.run('deliveries', 'list', '--state', 'dropped');
    expect(stdout).toContain('no longer matters');
  });

  it('sends a delivery of a killed process again, without waiting for its lease', async () => {
    const receiver = await fixture.webhook('hook', (_request, count) =>
      count === 1 ? 'silence' : { status: 204 },
    );
    const running = fixture.start('notify', 'ready', '--session', 's', '--no-background');
    await running.until(() => receiver.received.length === 1);
    running.child.kill('SIGKILL');
    await running.exited;
    const id = receiver.received[0]?.headers['webhook-id'] ?? '';
    expect(await fixture.run('deliveries', 'redeliver', id)).toMatchObject({ code: 0 });
    expect(receiver.received).toHaveLength(2);
  });

  it('restricts a delivery to public addresses, whichever command sends it again', async () => {
    const receiver = await fixture.webhook('hook');
    const [event] = await fixture.lines<EventLine>(
      1,
      ...['notify', 'ready', '--session', 's', '--deny-private'],
    );
    const refused = { state: 'failed', code: 'destination-refused' };
    expect(event?.outcomes).toMatchObject([{}, refused]);
    const id = event?.outcomes[1]?.deliveryId ?? '';
    expect(await fixture.lines(1, 'deliveries', 'redeliver', id)).toMatchObject([refused]);
    expect(await fixture.lines(1, 'channels', 'test', 'hook', '--deny-private')).toMatchObject([
      refused,
    ]);
    expect(receiver.received).toEqual([]);
  });
});
