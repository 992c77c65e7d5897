import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownerOfThisProcess } from '../../../src/apps/cli/spool/spool-name.js';
import { waitFor } from '../../helpers/wait.js';
import type { WebhookReceiver } from '../../fakes/webhook-receiver.js';
import { type Notifying, notifyInEachTest } from '../../fixtures/notify-fixture.js';

let fixture: Notifying;
let receiver: WebhookReceiver;

await notifyInEachTest((one) => (fixture = one));

beforeEach(async () => {
  receiver = await fixture.webhook('hook', (_request, count) => ({
    status: count === 1 ? 503 : 204,
  }));
});

const spool = () => join(fixture.stateHome, 'gatehouse', 'spool');

const marks = async (): Promise<string[]> =>
  (await readdir(spool())).filter((name) => name.startsWith('flusher.'));

const notifyReady = () => fixture.run('notify', 'ready', '--session', 's');

/** Writes the mark of a process that retries, or that was killed while it did. */
const leaveMark = async (ageMs: number): Promise<void> => {
  await mkdir(spool(), { recursive: true });
  const mark = join(spool(), `flusher.${ownerOfThisProcess()}`);
  await writeFile(mark, '');
  const at = new Date(Date.now() - ageMs);
  await utimes(mark, at, at);
};

describe('the background process of gatehouse notify', () => {
  it('retries temporary failures, and ends when nothing waits', async () => {
    const { code, stdout } = await notifyReady();
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('not yet') });
    await waitFor('the second try', () => receiver.received.length === 2);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    await waitFor('no process is left', async () => (await marks()).length === 0);
    const { stdout: listed } = await fixture.run('deliveries', 'list', '--json', '--state', 'sent');
    expect(listed).toContain(ids[0]);
  });

  it('is not started when nothing waits', async () => {
    await fixture.run('notify', 'ready', '--session', 's', '--no-background');
    fixture.letTimePass();
    expect((await fixture.run('notify', 'flush')).code).toBe(0);
    expect(await notifyReady()).toMatchObject({ code: 0 });
    await sleep(500);
    expect(await marks()).toEqual([]);
  });

  it('is not started when another one retries already', async () => {
    await leaveMark(0);
    await notifyReady();
    await sleep(3_000);
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['is old', 5 * 60_000],
    ['is of a clock that was set back since', -60 * 60_000],
  ])('is started when a mark with the process id of another program %s', async (_what, ageMs) => {
    await leaveMark(ageMs);
    await notifyReady();
    await waitFor('the second try', () => receiver.received.length === 2);
    await waitFor('no process is left', async () => (await marks()).length === 0);
  });

  it('uses a channel that was corrected in the meantime', async () => {
    const before = await fixture.webhook('moved', () => ({ status: 503 }));
    const after = await fixture.webhook('elsewhere');
    await fixture.ok('channels', 'remove', 'elsewhere');
    expect((await notifyReady()).stdout).toContain('webhook moved  not yet');
    await waitFor('a second try, at the address that was read', () => before.received.length > 1);
    await fixture.ok('channels', 'set', 'moved', '--url', after.url);
    await waitFor('a try there', () => after.received.length === 1);
  });
});

describe('simultaneous gatehouse notify --wait processes that share the spool', () => {
  it('exits in every process, each with a report of its own events', async () => {
    const seen = new Set<string | undefined>();
    await fixture.webhook('once-away', ({ headers }) => {
      const isNew = !seen.has(headers['webhook-id']);
      seen.add(headers['webhook-id']);
      return { status: isNew ? 503 : 204 };
    });
    const waiting = Array.from({ length: 8 }, (_, index) =>
      fixture.run('notify', 'ready', '--session', 's', '--id', `e${index}`, '--wait'),
    );
    for (const { code, stdout } of await Promise.all(waiting)) {
      expect({ code, stdout }).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('webhook once-away  sent'),
      });
    }
  });
});
