import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Notifying, notifyInEachTest } from '../../fixtures/notify-fixture.js';

const EVENTS = 60;
/** Deliveries that one process attempts at once to one webhook. */
const AT_ONCE = 4;

let fixture: Notifying;

await notifyInEachTest((one) => (fixture = one));

describe('one of two processes with the same spool', () => {
  it('reports no failure of deliveries that the other process sent', async () => {
    const finished = new AbortController();
    let isHeld = true;
    const receiver = await fixture.webhook('hook', async () => {
      await (isHeld ? once(finished.signal, 'abort') : undefined);
      return { status: 204 };
    });
    const file = join(fixture.user.home, 'events.ndjson');
    const lines = Array.from({ length: EVENTS }, (_, index) =>
      JSON.stringify({ id: `e${index}`, topic: 'ready', session: { sessionId: 's' } }),
    );
    await writeFile(file, lines.join('\n'));
    const sending = fixture.start('notify', 'send', '--event-file', file, '--no-background');
    await sending.until(() => receiver.received.length === AT_ONCE);
    isHeld = false;
    await fixture.ok('notify', 'flush');
    expect(receiver.received).toHaveLength(EVENTS);
    finished.abort();
    const { code, stdout } = await sending.exited;
    expect({ code, failed: stdout.match(/not yet/g) }).toEqual({ code: 0, failed: null });
    expect(receiver.received).toHaveLength(EVENTS);
  });
});
