import { Clock } from '../../common/runtime/clock.js';
import { Random } from '../../common/runtime/random.js';
import { Timers } from '../../common/runtime/timers.js';
import type { GuardRuntime } from './guard-options.js';
import { TestIssuer, type TestIssuerOptions } from './testing/test-issuer.js';

export type {
  TestIssuer,
  TestIssuerOptions,
  TestProgram,
  TestSession,
} from './testing/test-issuer.js';

/**
 * Starts an issuer of tokens and signals on this machine, for the tests of a backend:
 * `createGuard(issuer.guardOptions)` accepts its tokens.
 *
 * @param runtime time and chance, for tests with a clock of their own
 */
export function startTestIssuer(
  options: TestIssuerOptions = {},
  runtime: Partial<GuardRuntime> = {},
): Promise<TestIssuer> {
  const { clock = new Clock(), timers = new Timers(), random = new Random() } = runtime;
  return TestIssuer.start(options, { clock, timers, random });
}
