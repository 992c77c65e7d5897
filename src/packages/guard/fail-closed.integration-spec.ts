import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
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
      ...{ status: 503, code: 'guard-starting', wwwAuthenticate: null, retryAfterSeconds: 2 },
    });
    await waitFor('a failure is logged', () => fixture.logged.length > 0);
    expect(fixture.logged).toEqual([
      {
        ...{ level: 'warn', message: 'signals cannot be received' },
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
      ...{ status: 503, code: 'guard-lease-expired' },
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

  it('is renewed after a step of the wall clock, without a restart', async () => {
    const guard = await fixture.readyGuard();
    const token = await fixture.issuer.token();
    fixture.clock.wallOffsetMs = -5000;
    expect(await codeOf(guard, token)).toBe('guard-lease-expired');
    await fixture.until('the guard is ready', () => guard.isReady);
    expect(await codeOf(guard, token)).toBe('admitted');
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

  it('is renewed for as long as polls are answered', async () => {
    const guard = await fixture.readyGuard();
    const ends = await hold(guard, await fixture.issuer.token());
    for (let polls = 0; polls < 12; polls += 1) {
      await fixture.time.advance(10_000);
      await fixture.isWaiting();
      expect(guard.isReady).toBe(true);
    }
    expect(ends).toEqual([]);
  });

  it('closes what is held, spread over ten seconds', async () => {
    const { guard, token } = await leasedGuard();
    const ends = await hold(guard, token, 200);
    await fixture.time.advance(31_000);
    expect(ends.length).toBeLessThan(60);
    await fixture.time.advance(5000);
    expect(ends.length).toBeGreaterThan(60);
    expect(ends.length).toBeLessThan(140);
    await fixture.time.advance(5000);
    expect(ends).toHaveLength(200);
    expect(new Set(ends)).toEqual(new Set(['guard-lease-expired']));
  });

  it('keeps what is still held when no signal was lost', async () => {
    const { guard, token } = await leasedGuard();
    const ends = await hold(guard, token, 200);
    await fixture.time.advance(33_000);
    fixture.issuer.isAvailable = true;
    await fixture.until('the guard is ready', () => guard.isReady);
    const count = ends.length;
    expect(count).toBeLessThan(200);
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

  it('closes what it holds also if the lease expires meanwhile', async () => {
    const guard = await fixture.readyGuard();
    const ends = await hold(guard, await fixture.issuer.token(), 50);
    fixture.issuer.removeStreams();
    await fixture.until('the next stream', () => fixture.issuer.streamCount === 1 && guard.isReady);
    // The lease of the new stream ends, and is renewed, within the ten seconds.
    fixture.clock.monotonicOffsetMs = 30_000;
    const hasExpired = () => fixture.logged.some(({ reason }) => reason === 'guard-lease-expired');
    await fixture.until('the guard notices it', hasExpired, 1000);
    await fixture.until('the guard is ready', () => guard.isReady);
    await fixture.time.advance(10_000);
    expect(ends).toHaveLength(50);
    expect(new Set(ends)).toEqual(new Set(['guard-gap']));
  });

  it('closes also what waited for its end by an expired lease', async () => {
    const guard = await fixture.readyGuard();
    const ends = await hold(guard, await fixture.issuer.token(), 50);
    fixture.issuer.isAvailable = false;
    await fixture.time.advance(31_000);
    fixture.issuer.removeStreams();
    fixture.issuer.isAvailable = true;
    await fixture.until('the guard is ready', () => guard.isReady);
    await fixture.time.advance(10_000);
    expect(ends).toHaveLength(50);
  });
});

describe('signals', () => {
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
    expect(await codeOf(guard, other)).toBe('admitted');
    expect(kept).toEqual([]);
  });

  it('applies each signal once, and loses none', async () => {
    const guard = await fixture.readyGuard();
    const seen: unknown[] = [];
    guard.watch(({ sid }) => seen.push(sid));
    await fixture.issuer.endSession('one');
    await waitFor('the first signal', () => seen.length === 1);
    await fixture.isWaiting();
    await fixture.issuer.endSession('two');
    await waitFor('the second signal', () => seen.length === 2);
    expect(seen).toEqual(['one', 'two']);
  });

  it.each([
    ['of another key', { events: {} }, true],
    ['of another issuer', { iss: 'https://other.example', events: {} }, false],
    ['of another audience', { aud: 'https://other.example', events: {} }, false],
    ['with another id', { jti: 'other', events: {} }, false],
    [
      'that names no session',
      { events: { 'https://schemas.openid.net/secevent/caep/event-type/session-revoked': {} } },
      false,
    ],
  ])('stops the renewal of the lease after a signal %s', async (_what, claims, isForged) => {
    const guard = await fixture.readyGuard();
    await fixture.issuer.signal(claims, isForged ? await makeKey('RS256') : undefined);
    await waitFor('a failure is logged', () =>
      fixture.logged.some(({ level }) => level === 'warn'),
    );
    expect(fixture.logged.at(-1)?.reason).toContain('a signal is not valid');
    await fixture.until('the lease expires', () => !guard.isReady);
    expect(await codeOf(guard, await fixture.issuer.token())).toBe('guard-lease-expired');
  });

  it('ignores signals of unknown events', async () => {
    const guard = await fixture.readyGuard();
    await fixture.issuer.signal({ events: { 'https://example.com/event': {} } });
    await fixture.issuer.endSession('ended');
    const token = await fixture.issuer.token({ sid: 'ended' });
    await fixture.until('the next signal', () => fixture.issuer.waitingPolls === 1);
    expect(await codeOf(guard, token)).toBe('token-revoked');
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

  it('ends with its token if the options say so', async () => {
    const guard = await fixture.readyGuard({ closeOnTokenExpiry: true });
    const ends = await hold(guard, await fixture.issuer.token({ tokenSeconds: 20 }));
    await fixture.time.advance(20_000);
    expect(ends).toEqual(['token-expired']);
  });

  it('ends at once, but not within the call, if its session ended before', async () => {
    const guard = await fixture.readyGuard();
    const access = await guard.verify(await fixture.issuer.token({ sid: 'ended' }));
    const seen: unknown[] = [];
    guard.watch((end) => seen.push(end));
    await fixture.issuer.endSession('ended');
    await waitFor('the signal', () => seen.length > 0);
    const ends: EndReason[] = [];
    guard.hold(access, (reason) => ends.push(reason));
    expect(ends).toEqual([]);
    await Promise.resolve();
    expect(ends).toEqual(['session-revoked']);
  });

  it('is not held with a token that expired since its verification', async () => {
    const guard = await fixture.readyGuard();
    const access = await guard.verify(await fixture.issuer.token({ tokenSeconds: 20 }));
    await fixture.time.advance(20_000);
    const ends: EndReason[] = [];
    guard.hold(access, (reason) => ends.push(reason));
    await Promise.resolve();
    expect(ends).toEqual(['token-expired']);
  });

  it('is forgotten once it is released, and an error in one does not keep others', async () => {
    const guard = await fixture.readyGuard();
    const access = await guard.verify(await fixture.issuer.token({ sid: 'ended' }));
    const ends: string[] = [];
    guard.hold(access, () => ends.push('released'))();
    guard.hold(access, () => {
      throw new RangeError('a secret');
    });
    guard.hold(access, () => ends.push('third'));
    await fixture.issuer.endSession('ended');
    await waitFor('the end', () => ends.length > 0);
    expect(ends).toEqual(['third']);
    expect(fixture.logged.at(-1)).toEqual({
      ...{ level: 'warn', message: 'a connection could not be closed', reason: 'RangeError' },
    });
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
