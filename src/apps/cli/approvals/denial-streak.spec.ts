import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DenialStreak, resumeSessions } from './denial-streak.js';

const home = await mkdtemp(join(tmpdir(), 'gatehouse-denials-'));

const environment = { XDG_STATE_HOME: home };
const streakOf = (id: string) =>
  new DenialStreak(environment, {
    server: 'https://gate.example',
    account: 'a',
    session: { id, title: '' },
  });
const denied = async (id: string, times: number): Promise<void> => {
  for (let count = 0; count < times; count += 1) {
    await streakOf(id).note('deny');
  }
};

describe(DenialStreak.name, () => {
  it('pauses a session after three denials in a row, and no other one', async () => {
    await denied('s1', 2);
    expect(await streakOf('s1').isPaused()).toBe(false);
    await denied('s1', 1);
    expect(await streakOf('s1').isPaused()).toBe(true);
    expect(await streakOf('s2').isPaused()).toBe(false);
  });

  it.each(['allow', { answers: [{ id: '1', options: ['1'] }] }] as const)(
    'begins a new row after %j',
    async (choice) => {
      await denied('row', 2);
      await streakOf('row').note(choice);
      await denied('row', 2);
      expect(await streakOf('row').isPaused()).toBe(false);
      await streakOf('row').resume();
    },
  );

  it('loses no denial of simultaneous requests', async () => {
    await Promise.all([1, 2, 3].map(() => streakOf('many').note('deny')));
    expect(await streakOf('many').isPaused()).toBe(true);
  });

  it('lets one request of a pause ask whether to resume', async () => {
    await denied('once', 3);
    const may = await Promise.all([1, 2, 3].map(() => streakOf('once').mayAskToResume()));
    expect(may.filter(Boolean)).toHaveLength(1);
    await streakOf('once').resume();
    await denied('once', 3);
    expect(await streakOf('once').mayAskToResume()).toBe(true);
  });
});

describe(resumeSessions.name, () => {
  it('lets all paused sessions ask again, and counts them', async () => {
    await resumeSessions(environment);
    await denied('s3', 3);
    await denied('s4', 1);
    expect(await resumeSessions(environment)).toBe(1);
    expect(await streakOf('s3').isPaused()).toBe(false);
    expect(await resumeSessions(environment)).toBe(0);
  });
});
