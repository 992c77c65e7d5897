import fc from 'fast-check';
import {
  applyRecheck,
  changeBetween,
  firstCheckAt,
  isConcerned,
  judgeIdentity,
  nextCheckAt,
  retryCheckAt,
  type EligibilityRecord,
  removedUserIn,
  underCurrentRules,
} from './offboarding.js';

const MINUTE = 60_000;
const lenient = { enabled: true, intervalSeconds: 3600, strict: false };
const strict = { ...lenient, strict: true };
const INTERVAL = 3_600_000;
const NOW = 1_800_000_000_000;

const good: EligibilityRecord = { status: 'eligible', reason: null, checkedAt: NOW, failures: 0 };

describe(judgeIdentity, () => {
  const cases = [
    ['eligible', NOW - 10 * INTERVAL, lenient, true],
    ['unknown', null, lenient, true],
    ['ineligible', NOW, lenient, false],
    ['eligible', NOW - INTERVAL + 1, strict, true],
    ['eligible', NOW - INTERVAL, strict, false],
    ['unknown', null, strict, false],
    ['ineligible', NOW, strict, false],
    ['eligible', NOW - 10 * INTERVAL, { ...strict, enabled: false }, true],
  ] as const;
  it.each(cases)('%s, last answer at %s, %j: allowed %s', (status, checkedAt, rules, isAllowed) => {
    const identity = { status, reason: null, checkedAt, failures: 1 };
    expect(judgeIdentity(identity, rules, NOW).isAllowed).toBe(isAllowed);
  });

  it('returns the end of a strict answer to the millisecond', () => {
    const identity = { ...good, failures: 1 };
    expect(judgeIdentity(identity, strict, NOW)).toEqual({
      isAllowed: true,
      until: NOW + INTERVAL,
    });
    expect(judgeIdentity(identity, strict, NOW + INTERVAL)).toEqual({
      isAllowed: false,
      code: 'not-eligible',
      isOutdated: true,
    });
  });

  it('keeps the time of a due check while none has failed', () => {
    const until = nextCheckAt(strict, NOW) + 2 * MINUTE;
    expect(judgeIdentity(good, strict, NOW)).toEqual({ isAllowed: true, until });
    expect(judgeIdentity(good, strict, until)).toEqual({
      isAllowed: false,
      code: 'not-eligible',
      isOutdated: true,
    });
    const short = { ...strict, intervalSeconds: 60 };
    expect(judgeIdentity(good, short, NOW + 1.5 * MINUTE)).toEqual({
      isAllowed: false,
      code: 'not-eligible',
      isOutdated: true,
    });
  });
});

describe('an identity whose provider gives nothing to ask with', () => {
  const reasons = ['no_refresh_token', 'no_user_token', 'user_token_expired'] as const;
  const until = NOW + INTERVAL;

  it.each(reasons)('counts for one interval in both modes: %s', (reason) => {
    for (const rules of [lenient, strict]) {
      const identity = { ...good, reason };
      expect(judgeIdentity(identity, rules, until - 1)).toEqual({ isAllowed: true, until });
      const refused = { isAllowed: false, code: 'provider-required' };
      expect(judgeIdentity(identity, rules, until)).toEqual(refused);
      expect(judgeIdentity({ ...identity, checkedAt: null }, rules, NOW)).toEqual(refused);
    }
    const off = { ...lenient, enabled: false };
    expect(judgeIdentity({ ...good, reason }, off, until).isAllowed).toBe(true);
  });

  const recheck = (record: EligibilityRecord, startedAt: number, now = startedAt) =>
    applyRecheck(
      record,
      { kind: 'login_needed', reason: reasons[0] },
      lenient,
      { startedAt, now },
      0,
    );

  it('keeps its answer, and is checked again when the interval ends', () => {
    const kept = { ...good, reason: reasons[0] };
    expect(recheck({ ...good, failures: 3 }, NOW + 1)).toEqual({ ...kept, nextCheckAt: until });
    const soon = recheck(good, until - 1);
    expect(soon).toEqual({ ...kept, nextCheckAt: until + 999 });
  });

  it('has no answer once the interval has ended', () => {
    const started = until - MINUTE;
    expect(recheck(good, started, until)).toEqual({
      ...{ status: 'unknown', reason: reasons[0], checkedAt: NOW, failures: 0 },
      nextCheckAt: started + INTERVAL,
    });
  });

  it('stays refused after a refusal', () => {
    const refused = { ...good, status: 'ineligible', reason: 'not_a_member', failures: 2 } as const;
    const expected = { ...refused, failures: 0, nextCheckAt: NOW + INTERVAL };
    expect(recheck(refused, NOW)).toEqual(expected);
  });

  it('keeps its reason while a later check is not answered', () => {
    const waiting = { ...good, status: 'unknown', reason: reasons[0] } as const;
    const verdict = { kind: 'unknown', reason: 'timeout' } as const;
    const times = { startedAt: NOW, now: NOW };
    expect(applyRecheck(waiting, verdict, lenient, times, 0)).toMatchObject({
      ...{ status: 'unknown', reason: reasons[0], failures: 1 },
    });
    const other = { ...good, status: 'unknown', reason: 'rate_limited' } as const;
    expect(applyRecheck(other, verdict, lenient, times, 0).reason).toBe('timeout');
    const counting = { ...good, reason: reasons[0] };
    expect(applyRecheck(counting, verdict, lenient, times, 0)).toMatchObject({
      ...{ status: 'eligible', reason: 'timeout' },
    });
  });
});

describe(firstCheckAt, () => {
  it('spreads over the second half of the interval', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
        const wait = firstCheckAt(lenient, NOW, random) - NOW;
        expect(wait).toBeGreaterThanOrEqual(INTERVAL / 2);
        expect(wait).toBeLessThanOrEqual(INTERVAL);
      }),
    );
    expect(firstCheckAt(lenient, NOW, 0)).toBe(NOW + INTERVAL);
    expect(firstCheckAt(lenient, NOW, 1)).toBe(NOW + INTERVAL / 2);
  });
});

describe(nextCheckAt, () => {
  it.each(['eligible', 'ineligible'] as const)(
    'begins one interval after the check before it began: %s',
    (kind) => {
      const verdict = kind === 'eligible' ? { kind } : { kind, reason: 'not_a_member' };
      const times = { startedAt: NOW, now: NOW + MINUTE };
      expect(applyRecheck(good, verdict, lenient, times, 0.5)).toMatchObject({
        checkedAt: NOW + MINUTE,
        nextCheckAt: NOW + INTERVAL,
      });
    },
  );
});

describe(retryCheckAt, () => {
  it('doubles the delay, and tries at least four times an interval', () => {
    const waits = [1, 2, 3, 30, 4000].map((n) => retryCheckAt(lenient, n, NOW, 0) - NOW);
    expect(waits).toEqual([5000, 10_000, 20_000, INTERVAL / 4, INTERVAL / 4]);
  });

  it('spreads checks that failed together', () => {
    expect(retryCheckAt(lenient, 30, NOW, 1) - NOW).toBe(INTERVAL / 8);
  });

  it('waits as long as the provider asks, up to the interval', () => {
    expect(retryCheckAt(lenient, 1, NOW, 0, 7 * MINUTE) - NOW).toBe(7 * MINUTE);
    expect(retryCheckAt(lenient, 1, NOW, 0, 90 * INTERVAL) - NOW).toBe(INTERVAL);
  });
});

describe(applyRecheck, () => {
  const at = (now: number) => ({ startedAt: now, now });
  const unknown = { kind: 'unknown', reason: 'timeout' } as const;
  const no = { kind: 'ineligible', reason: 'not_a_member' } as const;

  it.each([lenient, strict])('accepts a definite refusal in both modes: %j', (rules) => {
    const after = applyRecheck(good, no, rules, at(NOW), 0);
    expect(after).toMatchObject({ status: 'ineligible', reason: 'not_a_member', checkedAt: NOW });
    expect(changeBetween(good, after)).toBe('lost');
  });

  it('keeps a good answer while the provider is unavailable, without a limit where not strict', () => {
    const after = applyRecheck(good, unknown, lenient, at(NOW + 99 * INTERVAL), 0);
    expect(after).toMatchObject({ status: 'eligible', reason: 'timeout', checkedAt: NOW });
    expect(after.failures).toBe(1);
    expect(changeBetween(good, after)).toBe('none');
  });

  it('stops trusting a good answer older than the interval where strict', () => {
    const early = applyRecheck(good, unknown, strict, at(NOW + INTERVAL - 1), 0);
    expect(early.status).toBe('eligible');
    const late = applyRecheck(good, unknown, strict, at(NOW + INTERVAL), 0);
    expect(late.status).toBe('unknown');
    expect(changeBetween(good, late)).toBe('lost');
    expect(changeBetween(late, applyRecheck(late, unknown, strict, at(NOW + INTERVAL), 0))).toBe(
      'none',
    );
  });

  it('changes a refusal only by a definite good answer', () => {
    const refused: EligibilityRecord = { ...good, status: 'ineligible', reason: 'not_a_member' };
    for (const rules of [lenient, strict]) {
      const after = applyRecheck(refused, unknown, rules, at(NOW + 9 * INTERVAL), 0);
      expect(after).toMatchObject({ status: 'ineligible', reason: 'not_a_member' });
      expect(changeBetween(refused, after)).toBe('none');
    }
    const back = applyRecheck(refused, { kind: 'eligible' }, strict, at(NOW), 0);
    expect(back).toMatchObject({ status: 'eligible', reason: null, failures: 0 });
    expect(changeBetween(refused, back)).toBe('regained');
  });
});

describe(underCurrentRules, () => {
  const no = { status: 'ineligible', reason: 'user_not_allowed' } as const;

  it('refuses a good answer that the current rules refuse', () => {
    const now = underCurrentRules(good, no);
    expect(now).toEqual({ ...good, ...no });
    const times = { startedAt: NOW, now: NOW };
    const after = applyRecheck(now, { kind: 'unknown', reason: 'timeout' }, lenient, times, 0);
    expect(after).toMatchObject({ ...no, checkedAt: good.checkedAt, failures: 1 });
    expect(changeBetween(good, after)).toBe('lost');
  });

  it('never allows a refused answer, and keeps undecidable ones', () => {
    const refused = { ...good, status: 'ineligible', reason: 'invalid_grant' } as const;
    expect(underCurrentRules(refused, { status: 'eligible' })).toBe(refused);
    expect(underCurrentRules(refused, no)).toBe(refused);
    expect(underCurrentRules(good, null)).toBe(good);
    expect(underCurrentRules(good, { status: 'eligible' })).toBe(good);
  });
});

describe(isConcerned, () => {
  it.each([
    ['eligible', 'eligible', 'eligible', false],
    ['eligible', 'eligible', 'ineligible', true],
    ['ineligible', 'ineligible', 'eligible', true],
    // The provider itself refused.
    ['ineligible', 'eligible', 'eligible', false],
    ['ineligible', 'ineligible', 'ineligible', false],
    // Another replica stored a positive answer under the former rules.
    ['eligible', 'ineligible', 'ineligible', true],
    ['eligible', 'eligible', 'unknown', true],
    ['eligible', null, null, true],
  ] as const)(
    'changes access from stored %s, before %s, now %s: %s',
    (status, before, after, expected) => {
      expect(isConcerned(status, before, after)).toBe(expected);
    },
  );
});

describe(removedUserIn, () => {
  it.each([
    ['organization', { action: 'member_removed', membership: { user: { id: 7 } } }],
    ['membership', { action: 'removed', member: { id: 7 } }],
    ['github_app_authorization', { action: 'revoked', sender: { id: 7 } }],
  ])('finds the people who may have left in %s', (event, payload) => {
    expect(removedUserIn(event, payload)).toBe('7');
    expect(removedUserIn(event, { ...payload, action: 'added' })).toBeNull();
  });

  it.each([
    ['membership', null],
    ['membership', 'removed'],
    ['membership', { action: 'removed' }],
    ['membership', { action: 'removed', member: { id: '7' } }],
    ['membership', { action: 'removed', member: { id: 7.5 } }],
    ['constructor', { action: 'removed' }],
    ['__proto__', { action: 'removed' }],
    ['', {}],
  ])('finds no user in %s %j', (event, payload) => {
    expect(removedUserIn(event, payload)).toBeNull();
  });
});
