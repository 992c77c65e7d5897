import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../test/fixtures/manual-timers.js';
import { Random } from '../../common/runtime/random.js';
import type { Access } from './access.js';
import type { GuardLogEntry } from './guard-options.js';
import { HeldConnections, type EndReason } from './held-connections.js';

const START = Date.UTC(2026, 9, 1);

/** Draws the given fractions in their order. */
class KnownRandom extends Random {
  constructor(private readonly fractions: number[]) {
    super();
  }

  override fraction(): number {
    return this.fractions.shift() ?? 0;
  }
}

let clock: ManualClock;
let timers: ManualTimers;
let logged: GuardLogEntry[];
let ends: [string, EndReason][];
beforeEach(() => {
  clock = new ManualClock(START);
  timers = new ManualTimers(clock);
  [logged, ends] = [[], []];
});

const connections = (closeOnTokenExpiry = false, ...fractions: number[]): HeldConnections =>
  new HeldConnections(
    { clock, timers, random: new KnownRandom(fractions) },
    closeOnTokenExpiry,
    (entry) => logged.push(entry),
  );

const accessOf = (sid: string, { token = 300, session = 3600 } = {}): Access => ({
  account: 'ada',
  sid,
  program: null,
  scopes: [],
  loginMethod: 'okta',
  login: null,
  email: null,
  authenticatedAt: null,
  expiresAt: new Date(START + token * 1000),
  sessionExpiresAt: new Date(START + session * 1000),
});

const add = (held: HeldConnections, sid: string, name = sid, lives = {}) =>
  held.add(accessOf(sid, lives), (reason) => ends.push([name, reason]));

describe(HeldConnections.name, () => {
  it('ends the connections of one session', () => {
    const held = connections();
    add(held, 'a', 'a1');
    add(held, 'b');
    add(held, 'a', 'a2');
    expect(held.count).toBe(3);
    held.endSession('a', 'session-revoked');
    expect(ends).toEqual([
      ['a1', 'session-revoked'],
      ['a2', 'session-revoked'],
    ]);
    expect(held.count).toBe(1);
    held.endSession('a', 'session-revoked');
    held.endSession('unknown', 'session-revoked');
    expect(ends).toHaveLength(2);
  });

  it('ends all at once', () => {
    const held = connections();
    add(held, 'a');
    add(held, 'b');
    held.endAll('guard-closed');
    expect(ends).toEqual([
      ['a', 'guard-closed'],
      ['b', 'guard-closed'],
    ]);
    expect(held.count).toBe(0);
  });

  it('ends a connection by its handle once, and none that was released', () => {
    const held = connections();
    const [one, other] = [add(held, 'a', 'one'), add(held, 'a', 'other')];
    other.release();
    expect(held.count).toBe(1);
    other.end('session-revoked');
    one.end('token-expired');
    one.end('session-revoked');
    expect(ends).toEqual([['one', 'token-expired']]);
    expect(held.count).toBe(0);
  });

  it('spreads ends over ten seconds', async () => {
    const held = connections(false, 0.1, 0.5, 0.9999);
    ['a', 'b', 'c'].forEach((sid) => add(held, sid));
    held.endAllSpread('guard-gap');
    await clock.advance(999);
    expect(ends).toEqual([]);
    await clock.advance(1);
    expect(ends).toEqual([['a', 'guard-gap']]);
    await clock.advance(4000);
    expect(ends.at(-1)).toEqual(['b', 'guard-gap']);
    await clock.advance(4998);
    expect(held.count).toBe(1);
    await clock.advance(1);
    expect(ends.at(-1)).toEqual(['c', 'guard-gap']);
  });

  it('keeps the time of a spread end, and takes the later reason', async () => {
    const held = connections(false, 0.5, 0);
    add(held, 'a');
    held.endAllSpread('guard-lease-expired');
    await clock.advance(1000);
    held.endAllSpread('guard-gap');
    await clock.advance(3999);
    expect(ends).toEqual([]);
    await clock.advance(1);
    expect(ends).toEqual([['a', 'guard-gap']]);
  });

  it('keeps the connections that wait because of the lease, and no others', async () => {
    const held = connections(false, 0.5, 0.5, 0.5);
    add(held, 'a');
    held.endAllSpread('guard-lease-expired');
    add(held, 'not waiting');
    held.keepRenewable();
    await clock.advance(10_000);
    expect(ends).toEqual([]);
    held.endAllSpread('guard-gap');
    held.keepRenewable();
    await clock.advance(10_000);
    expect(ends).toEqual([
      ['a', 'guard-gap'],
      ['not waiting', 'guard-gap'],
    ]);
  });

  it('ends after a gap also if the lease expires meanwhile, and is renewed', async () => {
    const held = connections(false, 0.5);
    add(held, 'a');
    held.endAllSpread('guard-gap');
    held.endAllSpread('guard-lease-expired');
    held.keepRenewable();
    await clock.advance(10_000);
    expect(ends).toEqual([['a', 'guard-gap']]);
  });

  it('forgets the spread end of a connection that ended before', async () => {
    const held = connections(false, 0.5);
    const handle = add(held, 'a');
    held.endAllSpread('guard-gap');
    handle.release();
    add(held, 'a', 'later');
    await clock.advance(10_000);
    expect(ends).toEqual([]);
    expect(held.count).toBe(1);
  });

  it('ends what has expired: sessions, and tokens where the options say so', async () => {
    const [kept, closed] = [connections(), connections(true)];
    add(kept, 'kept', 'kept', { token: 10, session: 20 });
    add(closed, 'closed', 'closed', { token: 10, session: 20 });
    add(closed, 'both', 'both', { token: 20, session: 10 });
    await clock.advance(9999);
    [kept, closed].forEach((held) => held.endExpired());
    expect(ends).toEqual([]);
    await clock.advance(1);
    [kept, closed].forEach((held) => held.endExpired());
    expect(ends).toEqual([
      ['closed', 'token-expired'],
      ['both', 'session-expired'],
    ]);
    await clock.advance(10_000);
    kept.endExpired();
    expect(ends.at(-1)).toEqual(['kept', 'session-expired']);
  });

  it.each([
    [new RangeError('a secret'), 'RangeError'],
    ['a secret', 'unknown'],
  ])(
    'logs only the kind of an error that closing one causes, and ends the others: %s',
    (error, reason) => {
      const held = connections();
      held.add(accessOf('a'), () => {
        throw error;
      });
      add(held, 'b');
      held.endAll('guard-closed');
      expect(ends).toEqual([['b', 'guard-closed']]);
      expect(logged).toEqual([
        { level: 'warn', message: 'a connection could not be closed', reason },
      ]);
    },
  );
});
