import { setImmediate as turn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { BatchDeletion } from './batch-deletion.js';
import { AppError } from './errors.js';

class CollectedErrors extends Logger {
  readonly errors: unknown[] = [];

  override error(error: unknown): void {
    this.errors.push(error);
  }
}

it('deletes until nothing is left, once for simultaneous callers', async () => {
  let left = 3;
  const deletion = new BatchDeletion(() => Promise.resolve((left -= 1) > 0), new CollectedErrors());
  await Promise.all([deletion.run(), deletion.run()]);
  expect(left).toBe(0);
});

it('ends after the current batch when it is stopped, and begins no other', async () => {
  let batches = 0;
  const deletion = new BatchDeletion(() => turn((batches += 1) > 0), new CollectedErrors());
  const run = deletion.run();
  await deletion.beforeApplicationShutdown();
  await run;
  const before = batches;
  await deletion.run();
  expect(batches).toBe(before);
});

it.each([
  ['logs nothing about a database that is unavailable', new AppError('unavailable'), 0],
  ['logs any other fault', new Error('broken'), 1],
])('%s, and tries again at the next run', async (_name, fault, logged) => {
  const logger = new CollectedErrors();
  let runs = 0;
  const deletion = new BatchDeletion(() => {
    runs += 1;
    return runs === 1 ? Promise.reject(fault) : Promise.resolve(false);
  }, logger);
  await deletion.run();
  await deletion.run();
  expect(runs).toBe(2);
  expect(logger.errors).toEqual(Array(logged).fill(fault));
});
