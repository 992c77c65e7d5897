import {
  judgeDeactivations,
  judgeDirectory,
  judgeNamesakes,
  judgeStream,
} from './signal-checks.js';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 0, 2, 12);

describe(judgeStream.name, () => {
  const stream = {
    ...{ provider: 'okta', transmitter: 'https://idp.example', streamId: 'one' },
    ...{ audiences: ['https://gate.example'], pollUrl: null, verificationState: 'state' },
    ...({ status: 'enabled', reason: null, failure: null } as const),
    ...{ connectedAt: new Date(NOW), seenAt: new Date(NOW), verifiedAt: null },
  };

  it.each([
    ['ok', 'the stream last showed a sign on 2026-01-02 12:00 UTC.', {}],
    [
      'ok',
      'the stream last showed a sign on 2026-01-02 09:00 UTC.',
      { seenAt: new Date(NOW - 3 * HOUR_MS) },
    ],
    [
      'failed',
      'the stream last showed a sign on 2026-01-02 08:59 UTC, although a verification is asked for every hour.',
      { seenAt: new Date(NOW - 3 * HOUR_MS - 1) },
    ],
    [
      'failed',
      'the stream is paused at its transmitter (overload).',
      { status: 'paused', reason: 'overload' } as const,
    ],
    ['failed', 'the stream is missing at its transmitter.', { status: 'missing' } as const],
    ['failed', 'the last request to the transmitter failed: timeout.', { failure: 'timeout' }],
  ])('judges as %s: %s', (status, text, changes) => {
    const result = judgeStream({ ...stream, ...changes }, NOW);
    expect(result).toMatchObject({ status, message: `okta: ${text}` });
  });
});

const COUNTS = { people: 300, active: 300, linked: 200, ambiguous: 0, recentlyDeactivated: 0 };

describe(judgeDirectory.name, () => {
  it.each([
    ['ok', 'okta: 200 of 300 people of the directory are matched (66 %).', {}],
    ['warning', 'okta: the directory has sent no person yet.', { people: 0 }],
    [
      'warning',
      'okta: 200 of 300 people of the directory are matched (66 %), and 2 match more than one identity.',
      { ambiguous: 2 },
    ],
    [
      'failed',
      'okta: 0 of 300 people of the directory are matched (0 %), but 7 people have signed in. Is match right?',
      { linked: 0 },
    ],
    [
      'ok',
      'okta: 0 of 300 people of the directory are matched (0 %).',
      { linked: 0, identities: 0 },
    ],
  ])('judges as %s: %s', (status, message, changes) => {
    const result = judgeDirectory('okta', { ...COUNTS, identities: 7, ...changes });
    expect(result).toMatchObject({ status, message });
  });
});

describe(judgeDeactivations.name, () => {
  it.each([
    [30, 300, 10, 0],
    [31, 300, 10, 1],
    [20, 30, 10, 0],
    [21, 30, 10, 1],
  ])('judges %i of %i people with an alarm at %i percent', (count, people, percentage, results) => {
    const counts = { ...COUNTS, people, recentlyDeactivated: count };
    expect(judgeDeactivations('okta', counts, percentage)).toHaveLength(results);
  });
});

describe(judgeNamesakes.name, () => {
  it('names the accounts to enable, if there are any', () => {
    expect(judgeNamesakes('okta', { total: 0, accountIds: [] })).toEqual([]);
    const [result] = judgeNamesakes('okta', { total: 3, accountIds: ['a', 'b'] });
    expect(result).toMatchObject({
      status: 'warning',
      message:
        'okta: 3 accounts are refused by the directory, which shows active people of their names: a, b, …. If a person was hired again, run: gatehouse account enable ID --reason TEXT',
    });
  });
});
