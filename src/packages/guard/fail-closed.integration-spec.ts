import { createServer } from 'node:http';
import type { JWTPayload } from 'jose';
import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { closeServer, listen } from '../../../test/helpers/local-server.js';
import { waitFor } from '../../../test/helpers/wait.js';
import type { Guard } from './guard.js';
import type { EndReason } from './held-connections.js';
import { makeKey } from './testing/test-keys.js';

let fixture: GuardFixture;
beforeEach(async () => {
  fixture = await GuardFixture.start();
});
afterEach(() => fixture.close());

const codeOf = async (guard: Guard, token: string): Promise<string> => {
  try {
    await guard.verify(token);
    return 'admitted';
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
};

/** Holds connections, and records the reasons of their ends. */
async function hold(guard: Guard, token: string, count = 1): Promise<EndReason[]> {
  const access = await guard.verify(token);
  const ends: EndReason[] = [];
  for (let index = 0; index < count; index += 1) {
    guard.hold(access, (reason) => ends.push(reason));
  }
  return ends;
}

describe('before the first complete poll', () => {
  it('admits no request', async () => {
    fixture.issuer.isAvailable = false;
    const guard = fixture.guard();
    const token = await fixture.issuer.token();
    await expect(guard.verify(token)).rejects.toMatchObject({
      status: 503,
      code: 'guard-starting',
      wwwAuthenticate: null,
      retryAfterSeconds: 2,
    });
    await waitFor('a failure is logged', () => fixture.logged.length > 0);
    expect(fixture.logged).toEqual([
      {
        level: 'warn',
        message: 'signals cannot be received',
        reason: 'the answer has status 503',
      },
    ]);
    fixture.issuer.isAvailable = true;
    await fixture.until('the guard is ready', () => guard.isReady);
    expect(await codeOf(guard, token)).toBe('admitted');
    expect(fixture.logged.at(-1)).toEqual({ level: 'info', message: 'signals are received' });
  });

  it('admits no request while the transmitter has more signals', async () => {
    await fixture.issuer.endSession('first');
    await fixture.issuer.endSession('last');
    let polls = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const guard = fixture.guard({
      fetch: async (url, init) => {
        if (!String(url).includes('/poll/')) {
          return fetch(url, init);
        }
        if ((polls += 1) === 2) {
          await released;
        }
        // The transmitter sends one signal at a time.
        const poll = { ...(JSON.parse(String(init?.body)) as object), maxEvents: 1 };
        return fetch(url, { ...init, body: JSON.stringify(poll) });
      },
    });
    await waitFor('the second poll', () => polls === 2);
    expect(await codeOf(guard, await fixture.issuer.token())).toBe('guard-starting');
    release();
    await guard.ready();
    expect(await codeOf(guard, await fixture.issuer.token())).toBe('admitted');
    const last = await fixture.issuer.token({ sid: 'last' });
    expect(await codeOf(guard, last)).toBe('token-revoked');
  });

  it('admits no request with a clock that is wrong by over a minute', async () => {
    fixture.clock.wallOffsetMs = -62_000;
    const guard = fixture.guard();
    await waitFor('a failure is logged', () => fixture.logged.length > 0);
    expect(fixture.logged[0]?.reason).toContain('clocks');
    expect(guard.isReady).toBe(false);
    fixture.clock.wallOffsetMs = -50_000;
    await fixture.until('the guard is ready', () => guard.isReady);
  });
});

describe('the lease', () => {
  /** Gatehouse stops answering once the first lease began. */
  async function leasedGuard(): Promise<{ guard: Guard; token: string }> {
    const guard = await fixture.readyGuard();
    const token = await fixture.issuer.token({ tokenSeconds: 900 });
    expect(await codeOf(guard, token)).toBe('admitted');
    fixture.issuer.isAvailable = false;
    return { guard, token };
  }

  it.each(['monotonicOffsetMs', 'wallOffsetMs'] as const)('ends by %s', async (offset) => {
    const { guard, token } = await leasedGuard();
    fixture.clock[offset] = 29_999;
    // The clock that moved further counts.
    expect(await codeOf(guard, token)).toBe(
      offset === 'wallOffsetMs' ? 'admitted' : 'guard-lease-expired',
    );
    fixture.clock[offset] = 30_000;
    await expect(guard.verify(token)).rejects.toMatchObject({
      status: 503,
      code: 'guard-lease-expired',
    });
  });

  it('ends by both clocks together, counted from the sending of the request', async () => {
    const { guard, token } = await leasedGuard();
    await fixture.time.advance(29_999);
    expect(await codeOf(guard, token)).toBe('admitted');
    await fixture.time.advance(1);
    expect(await codeOf(guard, token)).toBe('guard-lease-expired');
  });

  it('ends when the wall clock steps back', async () => {
    const { guard, token } = await leasedGuard();
    fixture.clock.wallOffsetMs = -1001;
    expect(await codeOf(guard, token)).toBe('guard-lease-expired');
  });

  it.each([-1100, -50_000])(
    'is renewed at once after a step of the wall clock by %i ms, and closes nothing',
    async (stepMs) => {
      const guard = await fixture.readyGuard();
      const token = await fixture.issuer.token();
      const ends = await hold(guard, token);
      fixture.clock.wallOffsetMs = stepMs;
      expect(await codeOf(guard, token)).toBe('guard-lease-expired');
      // The poll that waits for ten seconds ends: the time of the test does not move.
      await waitFor('the guard is ready', () => guard.isReady);
      await fixture.isWaiting();
      expect(await codeOf(guard, token)).toBe('admitted');
      expect(ends).toEqual([]);
    },
  );

  it('ends if the answer to a poll has no end', async () => {
    let [isStalled, polls] = [false, 0];
    const stalled = createServer((_request, response) => {
      polls += 1;
      response.setHeader('date', new Date(fixture.time.now()).toUTCString());
      response.write('{');
    });
    const port = await listen(stalled);
    const guard = await fixture.readyGuard({
      fetch: (url, init) => {
        const isPoll = isStalled && String(url).includes('/poll/');
        return fetch(isPoll ? `http://127.0.0.1:${port}` : url, init);
      },
    });
    const token = await fixture.issuer.token({ tokenSeconds: 900 });
    isStalled = true;
    await fixture.issuer.endSession('wakes the poll');
    await waitFor('the poll stalls', () => polls > 0);
    await fixture.until('the lease expires', () => !guard.isReady, 10_000);
    expect(await codeOf(guard, token)).toBe('guard-lease-expired');
    isStalled = false;
    await fixture.until('the guard is ready', () => guard.isReady);
    expect(await codeOf(guard, token)).toBe('admitted');
    await closeServer(stalled);
  });

  it('is renewed at once after a step that no request notices', async () => {
    const guard = await fixture.readyGuard();
    fixture.clock.wallOffsetMs = -1100;
    await fixture.time.advance(1000);
    await waitFor('the guard is ready', () => guard.isReady);
    await fixture.isWaiting();
    const messages = fixture.logged.map(({ message }) => message);
    expect(messages).toContain('all held connections are closed');
    expect(fixture.logged.map(({ reason }) => reason)).not.toContain('no answer in time');
  });

  it('keeps what is still held when no signal was lost', async () => {
    const { guard, token } = await leasedGuard();
    const ends = await hold(guard, token, 200);
    await fixture.time.advance(33_000);
    fixture.issuer.isAvailable = true;
    await fixture.until('the guard is ready', () => guard.isReady);
    const count = ends.length;
    expect(count).toBeLessThan(200);
    expect(new Set(ends)).toEqual(new Set(['guard-lease-expired']));
    await fixture.time.advance(9000);
    expect(ends).toHaveLength(count);
  });
});

describe('a gap', () => {
  it('makes a new stream, and closes what is held', async () => {
    const guard = await fixture.readyGuard();
    const token = await fixture.issuer.token();
    const ends = await hold(guard, token, 50);
    fixture.issuer.removeStreams();
    await waitFor('the guard notices it', () => !guard.isReady);
    expect(await codeOf(guard, token)).toBe('guard-starting');
    await fixture.until('the guard is ready', () => guard.isReady);
    expect(fixture.issuer.streamCount).toBe(1);
    expect(await codeOf(guard, token)).toBe('admitted');
    const later = await hold(guard, token);
    await fixture.time.advance(10_000);
    expect(ends).toHaveLength(50);
    expect(new Set(ends)).toEqual(new Set(['guard-gap']));
    expect(later).toEqual([]);
  });

  it('follows a stream that the transmitter stops', async () => {
    const guard = await fixture.readyGuard();
    const ends = await hold(guard, await fixture.issuer.token());
    const stopped = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated';
    await fixture.issuer.signal({ events: { [stopped]: { status: 'paused' } } });
    await waitFor('the guard notices it', () => !guard.isReady);
    await fixture.time.advance(10_000);
    expect(ends).toEqual(['guard-gap']);
  });
});

describe('signals', () => {
  const endOf = (id: string): JWTPayload => ({
    sub_id: { format: 'complex', session: { format: 'opaque', id } },
    events: { 'https://schemas.openid.net/secevent/caep/event-type/session-revoked': {} },
  });

  it('ends the connections and the tokens of one session', async () => {
    const guard = await fixture.readyGuard();
    const [leaver, other] = await Promise.all([
      fixture.issuer.token({ sid: 'leaver' }),
      fixture.issuer.token({ sid: 'other' }),
    ]);
    const [ended, kept] = await Promise.all([hold(guard, leaver, 3), hold(guard, other, 3)]);
    const seen: object[] = [];
    guard.watch((end) => seen.push(end));
    await fixture.issuer.endSession('leaver');
    await waitFor('the connections end', () => ended.length > 0);
    expect(ended).toEqual(['session-revoked', 'session-revoked', 'session-revoked']);
    expect(seen).toEqual([{ sid: 'leaver', reason: 'session-revoked' }]);
    expect(await codeOf(guard, leaver)).toBe('token-revoked');
    expect(fixture.logged.at(-1)?.reason).toBe('its session has ended');
    expect(await codeOf(guard, other)).toBe('admitted');
    expect(kept).toEqual([]);
  });

  it('applies a signal once, also if it is delivered again and out of order', async () => {
    const guard = await fixture.readyGuard();
    const ends = await hold(guard, await fixture.issuer.token({ sid: 'leaver' }));
    const seen: unknown[] = [];
    guard.watch(({ sid }) => seen.push(sid));
    const before = Math.floor(fixture.time.now() / 1000) - 3000;
    await fixture.issuer.signal(endOf('leaver'));
    await fixture.issuer.signal({ ...endOf('leaver'), iat: before });
    await fixture.issuer.signal(endOf('last'));
    await waitFor('the last signal', () => seen.includes('last'));
    expect(ends).toEqual(['session-revoked']);
    const token = await fixture.issuer.token({ sid: 'leaver' });
    expect(await codeOf(guard, token)).toBe('token-revoked');
    expect(guard.isReady).toBe(true);
  });

  it('applies the signals next to one that is not valid, which ends the lease', async () => {
    const guard = await fixture.readyGuard();
    const seen: unknown[] = [];
    guard.watch(({ sid }) => seen.push(sid));
    await fixture.issuer.signal(endOf('forged'), await makeKey('RS256'));
    await fixture.issuer.endSession('leaver');
    await fixture.until('the end', () => seen.includes('leaver'));
    expect(guard.isReady).toBe(true);
    await fixture.until('the lease expires', () => !guard.isReady);
    expect(seen).not.toContain('forged');
    expect(await codeOf(guard, await fixture.issuer.token())).toBe('guard-lease-expired');
  });
});

describe('a held connection', () => {
  it('outlives its token, and ends with its session', async () => {
    const guard = await fixture.readyGuard();
    const ends = await hold(guard, await fixture.issuer.token({ sessionSeconds: 400 }));
    for (let seconds = 0; seconds < 390; seconds += 10) {
      await fixture.time.advance(10_000);
      await fixture.isWaiting();
    }
    expect(ends).toEqual([]);
    await fixture.time.advance(10_000);
    expect(ends).toEqual(['session-expired']);
  });

  it('lets others of its session be held after the end of their token, as namespaces of Socket.IO are', async () => {
    const guard = await fixture.readyGuard();
    const access = await guard.verify(await fixture.issuer.token({ sid: 'one', tokenSeconds: 20 }));
    const ends: string[] = [];
    guard.hold(access, () => ends.push('first'));
    await fixture.time.advance(20_000);
    await fixture.isWaiting();
    const release = guard.hold(access, () => ends.push('second'));
    await fixture.time.advance(1000);
    expect(ends).toEqual([]);
    await fixture.issuer.endSession('one');
    await waitFor('the end', () => ends.length > 0);
    expect(ends).toEqual(['first', 'second']);
    release();
    guard.hold(access, () => ends.push('third'));
    guard.hold(access, () => ends.push('fourth'));
    await Promise.resolve();
    expect(ends).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('lets no other be held after the end of its token while it waits to be closed after a gap', async () => {
    const guard = await fixture.readyGuard();
    const access = await guard.verify(await fixture.issuer.token({ tokenSeconds: 20 }));
    const ends: string[] = [];
    guard.hold(access, () => undefined);
    await fixture.time.advance(20_000);
    await fixture.isWaiting();
    fixture.issuer.removeStreams();
    await waitFor('the gap', () => !guard.isReady);
    await fixture.until('the guard is ready', () => guard.isReady, 1);
    guard.hold(access, (reason) => ends.push(reason));
    await Promise.resolve();
    expect(ends).toEqual(['token-expired']);
  });

  it('ends with its token if the options say so', async () => {
    const guard = await fixture.readyGuard({ closeOnTokenExpiry: true });
    const ends = await hold(guard, await fixture.issuer.token({ tokenSeconds: 20 }));
    await fixture.time.advance(20_000);
    expect(ends).toEqual(['token-expired']);
  });
});

describe('close', () => {
  it('deletes the stream, ends what is held, and admits nothing more', async () => {
    const guard = await fixture.readyGuard();
    const token = await fixture.issuer.token();
    const ends = await hold(guard, token, 2);
    await guard.close();
    expect(ends).toEqual(['guard-closed', 'guard-closed']);
    expect(fixture.issuer.streamCount).toBe(0);
    expect(await codeOf(guard, token)).toBe('guard-closed');
    await expect(guard.ready()).rejects.toMatchObject({ code: 'guard-closed' });
    await guard.close();
  });
});
