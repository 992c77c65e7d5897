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

it('goes on until nothing is left, once for all who ask meanwhile', async () => {
  let left = 3;
  const deletion = new BatchDeletion(() => Promise.resolve((left -= 1) > 0), new CollectedErrors());
  await Promise.all([deletion.run(), deletion.run()]);
  expect(left).toBe(0);
});

it('ends after the batch that is under way when it is stopped, and begins no other', async () => {
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
  ['says nothing of a database that is away', new AppError('unavailable'), 0],
  ['logs any other fault', new Error('broken'), 1],
])('%s, and tries again at the next run', async (_name, fault, heard) => {
  const logger = new CollectedErrors();
  let runs = 0;
  const deletion = new BatchDeletion(() => {
    runs += 1;
    return runs === 1 ? Promise.reject(fault) : Promise.resolve(false);
  }, logger);
  await deletion.run();
  await deletion.run();
  expect(runs).toBe(2);
  expect(logger.errors).toEqual(Array(heard).fill(fault));
});
