import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Question } from '../approvals/asking.js';
import { countRepeats, RepeatLog } from './repeat-log.js';

const HOUR_MS = 60 * 60_000;
const START = 1_760_000_000_000;

const question = (change: Partial<Question> = {}): Question => ({
  kind: 'permission',
  session: { id: 's1', title: 'build-tools' },
  cwd: '/srv/app',
  tool: { name: 'Bash', input: { command: 'export TOKEN=hunter2' } },
  ...change,
});

describe(countRepeats.name, () => {
  const seen = (...all: readonly (readonly [hours: number, session: string, request: string])[]) =>
    countRepeats(
      all.map(([hours, session, request]) => ({ at: START + hours * HOUR_MS, session, request })),
    );

  it('counts a request that its session asked before, however long ago', () => {
    expect(seen([0, 's', 'a'], [1, 's', 'b'], [30, 's', 'a'])).toMatchObject({
      requests: 3,
      repeatedInSession: 1,
      repeatedInEightHours: 0,
    });
  });

  it('counts a request that any session asked in the eight hours before', () => {
    expect(seen([0, 's', 'a'], [8, 't', 'a'], [16.1, 't', 'a'])).toEqual({
      requests: 3,
      since: START,
      repeatedInSession: 1,
      repeatedInEightHours: 1,
    });
  });
});

describe(RepeatLog.name, () => {
  const run = async <Result>(work: (log: RepeatLog, path: string) => Promise<Result>) => {
    const home = await mkdtemp(join(tmpdir(), 'gatehouse-repeats-'));
    const log = new RepeatLog({ XDG_STATE_HOME: home });
    return await work(log, join(home, 'gatehouse', 'hook-requests.log'));
  };

  it('takes a request as repeated only where tool, input and directory are the same', () =>
    run(async (log) => {
      await log.note(question());
      await log.note(question({ cwd: '/srv/other' }));
      await log.note(question({ tool: { name: 'Bash', input: { command: 'ls' } } }));
      await log.note(question({ kind: 'user_action' }));
      expect(await log.counts()).toMatchObject({ requests: 3, repeatedInEightHours: 0 });
      await log.note(question({ session: { id: 's2', title: '' } }));
      expect(await log.counts()).toMatchObject({
        requests: 4,
        repeatedInSession: 0,
        repeatedInEightHours: 1,
      });
    }));

  it('keeps digests only, in a file of its owner', () =>
    run(async (log, path) => {
      await log.note(question(), START);
      const text = await readFile(path, 'utf8');
      expect(text).toMatch(/^1760000000000 [\w-]{22} [\w-]{22}\n$/);
      expect(text).not.toMatch(/hunter2|TOKEN|srv|s1/);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }));

  it('removes the older half of a long file, and skips damaged lines', () =>
    run(async (log, path) => {
      await log.note(question(), START);
      const line = await readFile(path, 'utf8');
      await writeFile(path, `${line.repeat(10_000)}damaged\n`);
      await log.note(question(), START);
      expect((await readFile(path, 'utf8')).length).toBe(5000 * line.length);
      expect(await log.counts()).toMatchObject({ requests: 5000 });
    }));
});
