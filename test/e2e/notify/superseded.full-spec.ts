import {
  type Notifying,
  notifyInEachTest,
  type TargetLine,
} from '../../fixtures/notify-fixture.js';

const EVENT_ID = /"eventId":"([^"]+)"/;
const TOKEN = 'ExponentPushToken[superseded]';

interface Listed {
  readonly id: string;
  readonly kind: string;
}

let fixture: Notifying;

await notifyInEachTest((one) => (fixture = one));

beforeEach(() => fixture.registerToken(TOKEN));

const ready = (code: number, id: string, session = 's') =>
  fixture.notify(code, 'ready', '--session', session, '--id', id, '--title', id);

const flush = () => {
  fixture.letTimePass();
  return fixture.run('notify', 'flush');
};

const shown = () => fixture.push.accepted.map(({ data }) => data?.['eventId']);

/** Leaves the pushes of these events waiting in the spool. */
async function failPushOf(...events: readonly (readonly [id: string, session: string])[]) {
  for (const [id, session] of events) {
    fixture.push.faults.push({ kind: 'status', status: 503 });
    expect(await ready(1, id, session)).toContain('push …eded: waiting');
  }
}

describe('a ready event that waits while a newer one of its session is sent', () => {
  it('is not pushed, is listed as superseded, and still reaches webhooks', async () => {
    const receiver = await fixture.webhook('hook', (_request, count) => ({
      status: count === 1 ? 503 : 204,
    }));
    await failPushOf(['older', 's'], ['of-another-session', 't']);
    await ready(0, 'newer');
    const { code, stdout } = await flush();
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('given up: A newer event of the session was sent.'),
    });
    expect(shown()).toEqual(['newer', 'of-another-session']);
    const events = receiver.received.map(({ rawBody }) => EVENT_ID.exec(rawBody.toString())?.[1]);
    expect(events).toEqual(['older', 'of-another-session', 'newer', 'older']);
    const listed = await fixture.ok('deliveries', 'list', '--state', 'dropped');
    expect(listed).toMatchObject([{ why: 'A newer event of the session was sent.' }]);
  });

  it('is sent where a person asks for it', async () => {
    await failPushOf(['older', 's']);
    await ready(0, 'newer');
    const listed = await fixture.ok<Listed>('deliveries', 'list', '--state', 'waiting');
    const older = listed.find(({ kind }) => kind === 'push');
    const [line] = await fixture.ok<TargetLine>('deliveries', 'redeliver', older?.id ?? '');
    expect(line).toMatchObject({ state: 'sent' });
    expect(shown()).toEqual(['newer', 'older']);
  });

  it('is pushed where the newer one waits, too, and before it', async () => {
    await failPushOf(['older', 's'], ['newer', 's']);
    expect(await flush()).toMatchObject({ code: 0 });
    expect(shown()).toEqual(['older', 'newer']);
  });
});
