import { findFaults, type Outcome, type Recorded } from './check.js';

const BOUNDS = { requestMs: 1000, connectionMs: 3000, clockMs: 2000 };
const LENGTH = 0.1;
const session = 'phone';

/** An entry of one account at one replica. Times are in seconds. */
function entry(at: number, act: string, more: Partial<Recorded> = {}): Recorded {
  return {
    ...{ act, replica: 'one', account: 'alice', outcome: 'done' },
    ...{ begin: at * 1000, end: (at + LENGTH) * 1000, ...more },
  };
}

const login = (at: number, more: Partial<Recorded> = {}) =>
  entry(at, 'login', { created: session, ...more });
const request = (at: number, outcome: Outcome = 'done') =>
  entry(at, 'request', { session, outcome });
const logout = (at: number, more: Partial<Recorded> = {}) =>
  entry(at, 'logout', { session, ...more });
const open = { outcome: 'unknown', end: null } as const;
const write = (at: number, expected: number, content: string, more: Partial<Recorded> = {}) =>
  entry(at, 'write', { session, expected, content, version: expected + 1, ...more });
const read = (at: number, version: number, content: string) =>
  entry(at, 'read', { session, version, content });
const claim = (at: number, outcome: Outcome, created?: string) =>
  entry(at, 'claim', { session, once: 'approval', outcome, ...(created && { created }) });
const tooOld = (at: number, sinceSeconds: number): Recorded => {
  const refused = { outcome: 'refused', answer: 'provider-required' } as const;
  return entry(at, 'link', { session, ...refused, since: sinceSeconds * 1000 });
};
const other = login(0, { created: 'tablet' });
const bySecond = { session: 'tablet' };
const update = { session, seq: 1 };
const fault = (at: number, act: string, seconds: number) =>
  entry(at, act, { account: '', end: (at + seconds) * 1000 });

describe(findFaults.name, () => {
  it.each<[string, Recorded[]]>([
    ['a session that is admitted until it ends', [login(0), request(1), logout(2)]],
    ['an admission within the bound after a logout', [login(0), logout(2), request(3)]],
    ['a refusal after a logout', [login(0), logout(2), request(2.2, 'refused')]],
    [
      'a logout without an answer that happened',
      [login(0), logout(2, open), request(9, 'refused')],
    ],
    ['a logout without an answer that did not', [login(0), logout(2, open), request(9)]],
    [
      'twenty logouts without an answer of which one happened',
      Array.from({ length: 20 }, (_, index) => {
        const own = { session: `session-${index}` };
        return [
          login(0, { created: own.session }),
          logout(2, { ...open, ...own }),
          entry(9, 'request', { ...own, outcome: index === 7 ? 'refused' : 'done' }),
        ];
      })
        .flat()
        .concat(login(5)),
    ],
    [
      'an unlinked identity, which is linked again',
      [
        login(0),
        entry(1, 'unlink', { session }),
        request(2.5, 'refused'),
        entry(3, 'link', { session }),
        request(4.5),
      ],
    ],
    [
      'a link whose identity was proven before an unlink',
      [login(0), entry(2, 'unlink', { session }), tooOld(3, 1)],
    ],
    ['the same at another clock', [login(0), entry(2, 'unlink', { session }), tooOld(4.5, 4)]],
    [
      'a version conflict',
      [
        login(0),
        write(1, 0, 'a'),
        write(2, 0, 'b', { outcome: 'conflict', version: 1, content: 'a' }),
      ],
    ],
    [
      'an open write that a later read returns',
      [login(0), write(1, 0, 'a', open), read(3, 1, 'a')],
    ],
    ['one winner of two claims', [login(0), claim(1, 'conflict'), claim(1, 'done', 'tablet')]],
    [
      '503 while the database is away',
      [login(0), fault(1, 'database-cut', 2), request(2, 'unavailable')],
    ],
    [
      'an update within the bound after a logout',
      [login(0), other, logout(2), write(4, 0, 'a', bySecond), entry(4.1, 'update', update)],
    ],
  ])('accepts %s', (_name, history) => {
    expect(findFaults(history, BOUNDS)).toEqual([]);
  });

  it.each<[string, Recorded[], string]>([
    ['an admission after the bound', [login(0), logout(2), request(3.2)], 'access'],
    ['a refusal of a live session', [login(0), request(2, 'refused')], 'access'],
    [
      'a session that returns when its account is enabled',
      [login(0), entry(1, 'disable'), entry(2, 'enable'), request(9)],
      'access',
    ],
    ['a login to a disabled account', [entry(0, 'disable'), login(1)], 'access'],
    [
      'an admission that follows a refusal of the same ended session',
      [login(0), logout(2, open), request(4, 'refused'), request(9)],
      'access',
    ],
    [
      'an admission without the required identity after the bound',
      [login(0), entry(1, 'unlink', { session }), request(3)],
      'access',
    ],
    [
      'an update after the bound',
      [login(0), other, logout(2), write(6, 0, 'a', bySecond), entry(6.1, 'update', update)],
      'access',
    ],
    [
      'a claim after the approving session ended',
      [login(0), logout(1), claim(2, 'done', 'tablet')],
      'access',
    ],
    ['a link that is refused without an unlink', [login(0), tooOld(3, 1)], 'unexpected'],
    [
      'a link that is refused for an unlink of long before',
      [login(0), entry(1, 'unlink', { session }), tooOld(5, 4)],
      'unexpected',
    ],
    [
      'a link of an ended session that is refused for its proof',
      [login(0), entry(1, 'unlink', { session }), logout(1.5), tooOld(3, 0.5)],
      'access',
    ],
    ['two writes of one version', [login(0), write(1, 0, 'a'), write(2, 0, 'b')], 'settings'],
    [
      'an acknowledged write that is lost',
      [login(0), write(1, 0, 'a'), write(2, 1, 'b'), read(3, 1, 'a')],
      'settings',
    ],
    [
      'an older version after a newer one',
      [login(0), write(1, 0, 'a', open), read(3, 1, 'a'), read(4, 0, 'a')],
      'settings',
    ],
    [
      'two winners of one approval',
      [login(0), claim(1, 'done', 'a'), claim(1, 'done', 'b')],
      'single use',
    ],
    ['a conflict that nothing explains', [login(0), claim(1, 'conflict')], 'single use'],
    [
      '503 without a fault',
      [login(0), fault(1, 'database-cut', 2), request(4, 'unavailable')],
      'unexpected',
    ],
    [
      '503 of a Redis that is away',
      [login(0), fault(1, 'redis-cut', 9), request(4, 'unavailable')],
      'unexpected',
    ],
    ['an answer that is no refusal', [login(0), request(1, 'surprise')], 'unexpected'],
  ])('finds %s', (_name, history, expected) => {
    const faults = findFaults(history, BOUNDS);
    expect(faults.map((one) => one.split(':')[0])).toEqual([expected]);
  });

  it('is undecided where each of many logouts may have happened, or not', () => {
    const names = Array.from({ length: 30 }, (_, index) => `phone-${index}`);
    const history = [
      ...names.map((created) => login(0, { created })),
      ...names.map((name) => logout(1, { session: name, ...open })),
      request(3),
    ];
    expect(findFaults(history, BOUNDS)).toEqual([
      expect.stringMatching(/^access: undecided after 20000 states, .+\n {2}\{"act":"request"/),
    ]);
  });

  it('explains many simultaneous acts without an answer', () => {
    const acts = Array.from({ length: 12 }, (_, index) =>
      entry(1 + index / 100, index % 2 === 0 ? 'disable' : 'enable', open),
    );
    const history = [login(0), ...acts, request(3, 'refused'), login(4, { created: 'tablet' })];
    expect(findFaults(history, BOUNDS)).toEqual([]);
  });
});
