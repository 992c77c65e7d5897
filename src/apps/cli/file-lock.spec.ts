import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withFileLock } from './file-lock.js';
import { ownerOfThisProcess } from './spool/spool-name.js';

/** No process has this id: Linux ends at 4,194,304. */
const ENDED = '4999999';

describe('withFileLock', () => {
  let directory: string;
  let file: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'file-lock-'));
    file = join(directory, 'servers.json');
  });

  afterEach(() => rm(directory, { recursive: true }));

  /** Runs ten changes at once. @returns the most that ran at the same time */
  async function mostAtOnce(): Promise<number> {
    let running = 0;
    let most = 0;
    const change = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await nextTurn();
      running -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, () => withFileLock(file, change)));
    return most;
  }

  it('runs simultaneous changes one after the other, and leaves no file', async () => {
    expect(await mostAtOnce()).toBe(1);
    expect(await readdir(directory)).toEqual([]);
  });

  it('takes over the lock of another machine from before the clock was set back', async () => {
    await writeFile(`${file}.lock`, 'elsewhere-1-1');
    const later = new Date(Date.now() + 60 * 60_000);
    await utimes(`${file}.lock`, later, later);
    expect(await mostAtOnce()).toBe(1);
    expect(await readdir(directory)).toEqual([]);
  });

  it('takes over the locks of processes that ended during a change, and as they took one over', async () => {
    const [machine, , life] = ownerOfThisProcess().split('-');
    const ended = `${machine}-${ENDED}-${life}`;
    await writeFile(`${file}.lock`, ended);
    await writeFile(`${file}.lock.lock`, ended);
    expect(await mostAtOnce()).toBe(1);
    expect(await readdir(directory)).toEqual([]);
  });
});
