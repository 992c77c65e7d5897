import { readdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Notifying, notifyInEachTest, type EventLine } from '../../fixtures/notify-fixture.js';

const TOKEN = 'ExponentPushToken[spool]';

let fixture: Notifying;

await notifyInEachTest((one) => (fixture = one));

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

describe('the spool', () => {
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

  it('does not delay push and other webhooks by a dead, a slow and a redirecting one', async () => {
    await fixture.registerToken(TOKEN);
    const arrived: Record<string, number> = {};
    const healthy = await fixture.webhook('healthy', () => {
      arrived['healthy'] = Date.now();
      return { status: 204 };
    });
    await fixture.webhook('slow', () => 'silence');
    await fixture.ok('channels', 'add', 'http://127.0.0.1:1/', '--id', 'dead');
    await fixture.webhook('redirecting', () => ({
      status: 302,
      headers: { location: healthy.url },
    }));
    const running = fixture.start('notify', 'ready', '--session', 's', '--no-background');
    await running.until(
      () => arrived['healthy'] !== undefined && fixture.push.accepted.length === 1,
    );
    // The slow webhook has not answered yet.
    expect(running.child.exitCode).toBe(null);
    const { code, stdout } = await running.exited;
    expect(code).toBe(1);
    expect(stdout).toMatch(/webhook slow {2}not yet: .*in time/);
    expect(stdout).toMatch(/webhook dead {2}not yet: Nothing listens/);
    expect(stdout).toMatch(/webhook redirecting {2}failed: .*302/);
    expect(healthy.received).toHaveLength(1);
  });

  it('sends a waiting delivery to the address that was corrected in the meantime', async () => {
    await fixture.ok(
      'channels',
      'add',
      'http://127.0.0.1:1/',
      '--id',
      'hook',
      '--secret',
      'long-enough-secret',
    );
    await fixture.notify(1, 'ready', '--session', 's', '--id', 'again');
    await fixture.ok('channels', 'remove', 'hook');
    const receiver = await fixture.webhook('hook', undefined, '--secret', 'long-enough-secret');
    await sleep(1_500);
    await fixture.ok('notify', 'flush');
    const [request] = receiver.received;
    expect(request?.headers['x-service-signature-256']).toMatch(/^sha256=[\da-f]{64}$/);
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
