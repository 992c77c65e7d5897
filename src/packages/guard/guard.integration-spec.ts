import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { waitFor } from '../../../test/helpers/wait.js';
import type { AccessRefused } from './access-refused.js';
import { Guard, type Ended } from './guard.js';
import type { EndReason } from './held-connections.js';
import { signWith } from './testing/test-keys.js';

const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
const UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated';

let fixture: GuardFixture;
beforeEach(async () => {
  fixture = await GuardFixture.start();
});
afterEach(() => fixture.close());

describe(Guard.name, () => {
  it('describes its backend (RFC 9728)', async () => {
    const guard = await fixture.readyGuard();
    expect(guard.metadata).toEqual({
      resource: 'https://backend.test',
      authorization_servers: [fixture.issuer.url],
      bearer_methods_supported: ['header'],
    });
    expect(guard.metadataUrl).toBe('https://backend.test/.well-known/oauth-protected-resource');
    expect(guard.refusal('invalid-token').wwwAuthenticate).toContain(guard.metadataUrl);
  });

  it('admits a token, with or without the word Bearer', async () => {
    const guard = await fixture.readyGuard();
    const token = await fixture.issuer.token({ account: 'ada' });
    for (const prefix of ['Bearer ', 'bearer   ', 'BEARER ', '  ', '']) {
      expect(await guard.verify(`${prefix}${token} `)).toMatchObject({ account: 'ada' });
    }
    const refused = ['Basic ', 'xBearer ', 'Bearer'].map((prefix) => `${prefix}${token}`);
    for (const text of [...refused, token.replace('.', '.Bearer ')]) {
      await expect(guard.verify(text)).rejects.toMatchObject({ code: 'invalid-token' });
    }
  });

  it('logs why it refuses a token, and does not answer so', async () => {
    const guard = await fixture.readyGuard();
    const claims = { ...fixture.issuer.claims(), aud: 'https://other.test' };
    const token = await signWith(fixture.issuer.signingKey, 'at+jwt', claims);
    const refusal = (await guard.verify(token).catch((error: unknown) => error)) as AccessRefused;
    const { headers, body } = guard.refusal('invalid-token');
    expect([refusal.headers, refusal.body]).toEqual([headers, body]);
    const reason = 'its audience is not https://backend.test';
    expect(fixture.logged.at(-1)).toEqual({
      level: 'info',
      message: 'a token was refused',
      reason,
    });
  });

  it.each([5, ['a', 'b'], {}, Symbol('token')])('refuses %p, which is no text', async (token) => {
    const guard = await fixture.readyGuard();
    await expect(guard.verify(token as never)).rejects.toMatchObject({
      status: 401,
      code: 'invalid-token',
    });
  });

  it('holds nothing for an access that it has not verified', async () => {
    const guard = await fixture.readyGuard();
    const access = await guard.verify(await fixture.issuer.token());
    const stored: unknown = JSON.parse(JSON.stringify(access));
    for (const wrong of [null, undefined, 5, {}, stored]) {
      expect(() => guard.hold(wrong as never, () => undefined)).toThrow(/^hold\(\) needs/);
    }
    expect(() => guard.hold(access, undefined as never)).toThrow(TypeError);
    expect(guard.heldCount).toBe(0);
    // The review of the held connections would fail within a timer, and end the process.
    await fixture.time.advance(2_000);
  });

  it.each([undefined, null, '', 'Bearer '])('refuses %j as no token', async (token) => {
    const guard = fixture.guard();
    await expect(guard.verify(token)).rejects.toMatchObject({
      status: 401,
      code: 'missing-token',
      wwwAuthenticate: `Bearer resource_metadata="${guard.metadataUrl}"`,
    });
    expect(fixture.logged).toEqual([]);
  });

  it('verifies no text of more than 8192 characters', async () => {
    const guard = fixture.guard();
    const codeOf = (token: string) =>
      guard.verify(token).catch(({ code }: { readonly code: string }) => code);
    // A guard without a lease refuses every token, but first the ones that it would not read.
    expect(await codeOf('x'.repeat(8193))).toBe('invalid-token');
    expect(await codeOf('x'.repeat(8192))).toBe('guard-starting');
  });

  it('reports ends to each watcher until it leaves, and survives one that fails', async () => {
    const guard = await fixture.readyGuard();
    const [seen, left]: [Ended[], Ended[]] = [[], []];
    guard.watch(() => {
      throw new RangeError('a secret');
    });
    guard.watch(() => {
      // A watcher may throw anything.
      throw 'a secret' as never;
    });
    const leave = guard.watch((ended) => left.push(ended));
    guard.watch((ended) => seen.push(ended));
    await fixture.issuer.endSession('one');
    await waitFor('the first end', () => seen.length === 1);
    leave();
    await fixture.issuer.endSession('two');
    await waitFor('the second end', () => seen.length === 2);
    expect(seen).toEqual([
      { sid: 'one', reason: 'session-revoked' },
      { sid: 'two', reason: 'session-revoked' },
    ]);
    expect(left).toEqual(seen.slice(0, 1));
    const failure = { level: 'warn', message: 'a watcher failed' };
    expect(fixture.logged.filter(({ level }) => level === 'warn')).toEqual([
      { ...failure, reason: 'RangeError' },
      { ...failure, reason: 'unknown' },
      { ...failure, reason: 'RangeError' },
      { ...failure, reason: 'unknown' },
    ]);
  });

  it('reports and logs the end of all, by an expired lease, a gap and its close', async () => {
    const guard = await fixture.readyGuard();
    const seen: Ended[] = [];
    guard.watch((ended) => seen.push(ended));
    fixture.issuer.isAvailable = false;
    await fixture.time.advance(31_000);
    expect(seen).toEqual([{ sid: null, reason: 'guard-lease-expired' }]);
    await fixture.time.advance(5000);
    expect(seen).toHaveLength(1);
    fixture.issuer.isAvailable = true;
    await fixture.until('the guard is ready', () => guard.isReady);
    fixture.issuer.removeStreams();
    await waitFor('the gap', () => seen.length === 2);
    await guard.close();
    await guard.close();
    expect(seen.slice(1)).toEqual([
      { sid: null, reason: 'guard-gap' },
      { sid: null, reason: 'guard-closed' },
    ]);
    const closing = { level: 'warn', message: 'all held connections are closed' };
    expect(fixture.logged).toContainEqual({ ...closing, reason: 'guard-lease-expired' });
    expect(fixture.logged).toContainEqual({ ...closing, reason: 'guard-gap' });
  });

  it.each<[EndReason, (guard: Guard) => Promise<unknown>]>([
    ['guard-closed', (guard) => guard.close()],
    [
      'guard-lease-expired',
      async () => {
        fixture.clock.monotonicOffsetMs = 30_000;
      },
    ],
    [
      'session-revoked',
      async (guard) => {
        const seen: Ended[] = [];
        guard.watch((ended) => seen.push(ended));
        await fixture.issuer.endSession('one');
        await waitFor('the signal', () => seen.length > 0);
      },
    ],
    ['token-expired', () => fixture.time.advance(20_000)],
  ])(
    'ends what is held after its access ended, but not within the call: %s',
    async (reason, end) => {
      const guard = await fixture.readyGuard();
      const token = await fixture.issuer.token({ sid: 'one', tokenSeconds: 20 });
      const access = await guard.verify(token);
      await end(guard);
      const ends: EndReason[] = [];
      guard.hold(access, (why) => ends.push(why));
      expect(ends).toEqual([]);
      await Promise.resolve();
      expect(ends).toEqual([reason]);
    },
  );

  it('refuses a token whose session ends while its key is read', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let reads = 0;
    const guard = await fixture.readyGuard({
      fetch: async (url, init) => {
        if (String(url).endsWith('/jwks') && (reads += 1) === 1) {
          await released;
        }
        return fetch(url, init);
      },
    });
    const verified = guard
      .verify(await fixture.issuer.token({ sid: 'one' }))
      .catch(({ code }: { readonly code: string }) => code);
    await waitFor('the keys are read', () => reads === 1);
    await fixture.issuer.endSession('one');
    await waitFor('the next poll', () => reads > 1);
    await fixture.isWaiting();
    release();
    expect(await verified).toBe('token-revoked');
  });

  it('refuses a token if the lease ends while its key is read', async () => {
    const guard = await fixture.readyGuard({
      fetch: async (url, init) => {
        if (String(url).endsWith('/jwks')) {
          fixture.clock.monotonicOffsetMs = 30_000;
        }
        return fetch(url, init);
      },
    });
    const verified = guard.verify(await fixture.issuer.token());
    await expect(verified).rejects.toMatchObject({ code: 'guard-lease-expired' });
  });

  it('is not ready by an answer that comes after the end of its lease', async () => {
    let [polls, isLate] = [0, true];
    const guard = fixture.guard({
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        if (String(url).includes('/poll/') && isLate) {
          polls += 1;
          fixture.clock.monotonicOffsetMs += 30_000;
        }
        return answer;
      },
    });
    await waitFor('several polls', () => polls > 2);
    expect([guard.isReady, fixture.logged]).toEqual([false, []]);
    isLate = false;
    await fixture.until('the guard is ready', () => guard.isReady);
  });

  it.each([
    ['more signals', REVOKED],
    ['the end of its stream', UPDATED],
  ])('remains closed if an answer that it is reading has %s', async (_what, event) => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let isRead = false;
    const guard = await fixture.readyGuard({
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        if (!String(url).endsWith('/jwks')) {
          return answer;
        }
        const text = await answer.text();
        isRead = true;
        await released;
        return new Response(text, answer);
      },
    });
    const seen: Ended[] = [];
    guard.watch((ended) => seen.push(ended));
    const sub_id = { format: 'complex', session: { format: 'opaque', id: 'one' } };
    await fixture.issuer.signal({ sub_id, events: { [event]: { status: 'paused' } } });
    await waitFor('the keys are read', () => isRead);
    const closed = guard.close();
    release();
    await closed;
    expect(guard.isReady).toBe(false);
    await expect(guard.verify('x')).rejects.toMatchObject({ code: 'guard-closed' });
    expect(seen.filter(({ sid }) => sid === null)).toEqual([{ sid: null, reason: 'guard-closed' }]);
  });

  it('is ready at once with introspection, until it is closed', async () => {
    const guard = fixture.guard({ introspection: { cacheSeconds: 0 } });
    expect(guard.isReady).toBe(true);
    await guard.close();
    expect(guard.isReady).toBe(false);
    await expect(guard.verify('x')).rejects.toMatchObject({ code: 'guard-closed' });
  });

  it('closes without waiting for a poll that begins meanwhile', async () => {
    const guard = fixture.guard();
    await guard.ready();
    await guard.close();
    expect([fixture.issuer.streamCount, fixture.issuer.waitingPolls]).toEqual([0, 0]);
  });

  it('ends the waits for it when it is closed', async () => {
    fixture.issuer.isAvailable = false;
    const guard = fixture.guard();
    const waits = [guard.ready(), guard.ready()];
    const outcomes = Promise.allSettled(waits);
    await guard.close();
    expect(await outcomes).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ code: 'guard-closed' }) },
      { status: 'rejected', reason: expect.objectContaining({ code: 'guard-closed' }) },
    ]);
  });
});
