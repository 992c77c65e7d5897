import { Clock } from '../../common/runtime/clock.js';
import { Random } from '../../common/runtime/random.js';
import { Timers } from '../../common/runtime/timers.js';
import { Guard } from './guard.js';
import { readOptions, type GuardOptions, type GuardRuntime } from './guard-options.js';

/**
 * Starts to receive the sessions that end. Nothing is admitted before {@link Guard.ready}.
 *
 * @param runtime time and chance, for tests
 * @throws TypeError for a mistake in the options
 */
export function createGuard(options: GuardOptions, runtime: Partial<GuardRuntime> = {}): Guard {
  const { clock = new Clock(), timers = new Timers(), random = new Random() } = runtime;
  return new Guard(readOptions(options), { clock, timers, random });
}
