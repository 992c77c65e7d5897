import { setImmediate as nextTurn } from 'node:timers/promises';
import { GuardFixture } from '../../../../test/fixtures/guard-fixture.js';
import { waitFor } from '../../../../test/helpers/wait.js';
import { Random } from '../../../common/runtime/random.js';
import { createGuard } from '../create-guard.js';
import type { Guard } from '../guard.js';
import { EventStream } from './event-stream.js';

const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
const UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | null;
}

class FixedRandom extends Random {
  constructor(private readonly drawn: number) {
    super();
  }

  override fraction(): number {
    return this.drawn;
  }
}

let fixture: GuardFixture;
let sent: Sent[];
beforeEach(async () => {
  fixture = await GuardFixture.start();
  sent = [];
});
afterEach(() => fixture.close());

type Send = (url: string, init: RequestInit | undefined) => Promise<Response>;

/** Records what a guard sends, before `send` answers it. */
const recording =
  (send: Send = (url, init) => fetch(url, init)): typeof fetch =>
  (input, init) => {
    const url = input as string;
    const body = typeof init?.body === 'string' && init.body.startsWith('{') ? init.body : null;
    sent.push({
      method: init?.method ?? 'GET',
      path: url.slice(fixture.issuer.url.length),
      body: body === null ? null : (JSON.parse(body) as Record<string, unknown>),
    });
    return send(url, init);
  };

const isPoll = ({ path }: Sent): boolean => path.startsWith('/v1/ssf/poll/');
const polls = (): Sent[] => sent.filter(isPoll);

type Change = (body: Record<string, unknown>) => object;

/** Changes the answers to the wanted requests. */
const changing = (isWanted: (request: Sent) => boolean, change: Change): typeof fetch =>
  recording(async (url, init) => {
    const isChanged = isWanted(sent.at(-1) as Sent);
    const answer = await fetch(url, init);
    return isChanged
      ? Response.json(change((await answer.json()) as Record<string, unknown>), answer)
      : answer;
  });

/** Changes the configuration of the stream that the transmitter answers with. */
const configured = (change: Change): typeof fetch =>
  changing(({ method, path }) => method === 'POST' && path === '/v1/ssf/streams', change);

describe(EventStream.name, () => {
  it('creates a stream of ended sessions, polls it, and deletes it', async () => {
    const guard = await fixture.readyGuard({ fetch: recording() });
    await fixture.issuer.endSession('one');
    await waitFor('the third poll', () => polls().length === 3);
    await guard.close();
    const [create] = sent.filter(({ path }) => path === '/v1/ssf/streams');
    expect(create).toEqual({
      method: 'POST',
      path: '/v1/ssf/streams',
      body: { delivery: { method: 'urn:ietf:rfc:8936' }, events_requested: [REVOKED] },
    });
    expect(polls().map(({ body }) => body)).toEqual([
      { maxEvents: 500, returnImmediately: true, ack: [] },
      { maxEvents: 500, returnImmediately: false, ack: [] },
      { maxEvents: 500, returnImmediately: false, ack: [expect.any(String)] },
    ]);
    expect(sent.at(-1)).toMatchObject({ method: 'DELETE', body: null });
    expect(sent.at(-1)?.path).toMatch(/^\/v1\/ssf\/streams\?stream_id=[\w-]+$/);
  });

  it('accepts a list of audiences', async () => {
    const send = configured((body) => ({ ...body, aud: [body['aud'], 'https://other.example'] }));
    const guard = await fixture.readyGuard({ fetch: send });
    await fixture.issuer.endSession('one');
    const seen: unknown[] = [];
    guard.watch(({ sid }) => seen.push(sid));
    await waitFor('the signal', () => seen.length > 0);
    expect(seen).toEqual(['one']);
  });

  it.each<[string, Change, string]>([
    [
      'another issuer',
      (body) => ({ ...body, iss: 'https://other.example' }),
      'the stream is of another issuer or another delivery method',
    ],
    [
      'another delivery method',
      (body) => ({ ...body, delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: 'x' } }),
      'the stream is of another issuer or another delivery method',
    ],
    [
      'no delivery method',
      (body) => ({ ...body, delivery: null }),
      'the stream is of another issuer or another delivery method',
    ],
    [
      'no address',
      (body) => ({ ...body, delivery: { method: 'urn:ietf:rfc:8936' } }),
      'the answer has no "endpoint_url"',
    ],
    ['no id', (body) => ({ ...body, stream_id: '' }), 'the answer has no "stream_id"'],
    ['no audience', (body) => ({ ...body, aud: undefined }), 'the answer has no "aud"'],
  ])('polls no stream with %s', async (_what, change, reason) => {
    const guard = fixture.guard({ fetch: configured(change) });
    await waitFor('a failure is logged', () => fixture.logged.length > 0);
    expect(fixture.logged).toEqual([
      { level: 'warn', message: 'signals cannot be received', reason },
    ]);
    expect([guard.isReady, polls()]).toEqual([false, []]);
  });

  it.each([undefined, null, 7, true, 'x'])('is not complete with the signals %j', async (sets) => {
    const send = changing(isPoll, (body) => ({ ...body, sets }));
    const guard = fixture.guard({ fetch: send });
    await waitFor('a failure is logged', () => fixture.logged.length > 0);
    expect(fixture.logged[0]?.reason).toBe('the answer to a poll has no "sets"');
    expect(guard.isReady).toBe(false);
  });

  it('is not complete if the answer says in another way that there is no more', async () => {
    const send = changing(isPoll, (body) => ({ ...body, moreAvailable: 'false' }));
    const guard = fixture.guard({ fetch: send });
    await waitFor('several polls', () => polls().length > 3);
    expect([guard.isReady, fixture.logged]).toEqual([false, []]);
  });

  it('is complete if the answer does not say that there is more', async () => {
    const send = changing(isPoll, ({ sets }) => ({ sets }));
    const guard = await fixture.readyGuard({ fetch: send });
    expect(guard.isReady).toBe(true);
  });

  it('reports the reason why a signal is not valid', async () => {
    await fixture.readyGuard();
    await fixture.issuer.signal({ jti: 'other', events: {} });
    await waitFor('a failure is logged', () => fixture.logged.length > 1);
    expect(fixture.logged[1]?.reason).toBe(
      'a signal is not valid: The signal has another id than its delivery.',
    );
  });

  it('asks for an immediate answer after a failure', async () => {
    const send = recording((url, init) =>
      polls().length === 2 && isPoll(sent.at(-1) as Sent)
        ? Promise.resolve(new Response(null, { status: 500 }))
        : fetch(url, init),
    );
    await fixture.guard({ fetch: send }).ready();
    await fixture.until('the fourth poll', () => polls().length === 4);
    expect(polls().map(({ body }) => body?.['returnImmediately'])).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('logs no failure when it is closed', async () => {
    const guard = await fixture.readyGuard();
    await guard.close();
    expect(fixture.logged.map(({ level }) => level)).toEqual(['info']);
  });

  it('goes on after a signal that its stream is enabled', async () => {
    const guard = await fixture.readyGuard();
    await fixture.issuer.signal({ events: { [UPDATED]: { status: 'enabled' } } });
    await fixture.issuer.endSession('one');
    const seen: unknown[] = [];
    guard.watch(({ sid }) => seen.push(sid));
    await waitFor('the signal', () => seen.length > 0);
    expect([seen, guard.isReady, fixture.issuer.streamCount]).toEqual([['one'], true, 1]);
  });

  it('logs a lasting failure once, and again after a success', async () => {
    let isFailing = true;
    const send = recording((url, init) =>
      isFailing ? Promise.reject(new Error('x')) : fetch(url, init),
    );
    const guard = fixture.guard({ fetch: send });
    await fixture.until('several attempts', () => sent.length > 5);
    isFailing = false;
    await fixture.until('the guard is ready', () => guard.isReady);
    isFailing = true;
    await fixture.issuer.endSession('wakes the poll');
    await fixture.until('a second failure', () => fixture.logged.length > 2);
    expect(fixture.logged.map(({ level }) => level)).toEqual(['warn', 'info', 'warn']);
  });
});

describe('a transmitter that fails', () => {
  const guardOf = (send: Send, drawn = 0): Guard => {
    const { issuer, time: clock, timers } = fixture;
    const options = { ...issuer.guardOptions, log: () => undefined, fetch: recording(send) };
    return createGuard(options, { clock, timers, random: new FixedRandom(drawn) });
  };

  /** Lets the guard handle an answer that needs no network. */
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns += 1) {
      await nextTurn();
    }
  };

  it.each([
    ['no wait', {}, 0, [100, 200, 400, 800, 1000, 1000]],
    ['no wait', {}, 0.5, [150, 300, 600, 1200, 1500, 1500]],
    ['a wait of 3 s', { 'retry-after': '3' }, 0.5, [3000, 3000, 3000]],
  ])('is asked again later each time if it demands %s', async (_what, headers, drawn, delays) => {
    const answer = (): Response => new Response(null, { status: 503, headers });
    const guard = guardOf(() => Promise.resolve(answer()), drawn);
    await settle();
    expect(sent).toHaveLength(1);
    for (const [index, delay] of delays.entries()) {
      await fixture.time.advance(delay - 1);
      await settle();
      expect(sent).toHaveLength(index + 1);
      await fixture.time.advance(1);
      await settle();
      expect(sent).toHaveLength(index + 2);
    }
    await guard.close();
    expect(sent).toHaveLength(delays.length + 1);
  });

  it('is not asked at once for another stream because requests wait for it', async () => {
    const isCreation = ({ method, path }: Sent): boolean =>
      method === 'POST' && path === '/v1/ssf/streams';
    const creations = (): number => sent.filter(isCreation).length;
    const send = recording((url, init) =>
      creations() > 1 && isCreation(sent.at(-1) as Sent)
        ? nextTurn(new Response(null, { status: 503 }))
        : fetch(url, init),
    );
    const guard = await fixture.readyGuard({ fetch: send });
    fixture.issuer.removeStreams();
    await waitFor('the stream is gone', () => !guard.isReady);
    await expect(guard.verify('x')).rejects.toThrow('The guard has not yet received');
    await fixture.time.advance(200);
    await settle();
    expect(creations()).toBe(2);
  });

  it.each([
    ['immediate', 0, 5000],
    ['waiting', 1, 15_000],
  ])('has the time of its kind to answer an %s poll', async (_kind, index, limitMs) => {
    const signals: AbortSignal[] = [];
    const guard = guardOf((url, init) => {
      const isSilent = isPoll(sent.at(-1) as Sent) && polls().length > index;
      if (!isSilent) {
        return fetch(url, init);
      }
      signals.push(init?.signal as AbortSignal);
      return new Promise((_done, fail) => {
        init?.signal?.addEventListener('abort', () => fail(new DOMException('x', 'AbortError')));
      });
    });
    await waitFor('the poll', () => signals.length > 0);
    await fixture.time.advance(limitMs - 1);
    expect(signals[0]?.aborted).toBe(false);
    await fixture.time.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    await guard.close();
  });
});
