import { judgeStreams } from './stored-checks.js';

describe(judgeStreams.name, () => {
  const stream = {
    ...{ resourceServer: 'relay', id: 'one', description: null, createdAt: 0, polledAt: 0 },
    ...{ isPaused: false, waiting: 0, oldestWaitingSeconds: 0 },
  };

  it.each([
    ['skipped', 'relay has no stream of ended sessions.', []],
    ['ok', 'relay has 2 stream(s) of ended sessions, all polled.', [{}, {}]],
    [
      'ok',
      'relay has 1 stream(s) of ended sessions, all polled.',
      [{ waiting: 1, oldestWaitingSeconds: 60 }],
    ],
    [
      'warning',
      'relay has 1 stream(s) of ended sessions; an event waits for 61 seconds.',
      [{ waiting: 1, oldestWaitingSeconds: 61 }],
    ],
    [
      'warning',
      'relay has 2 stream(s) of ended sessions, of which 1 were not polled for 30 seconds.',
      [{}, { isPaused: true }],
    ],
  ])('judges as %s: %s', (status, message, changes) => {
    const streams = changes.map((change) => ({ ...stream, ...change }));
    expect(judgeStreams('relay', streams)).toMatchObject({ status, message });
  });
});
