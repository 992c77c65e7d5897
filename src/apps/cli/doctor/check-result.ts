import { ConfigurationError } from '../../../server/config/environment/configuration-error.js';
import type { Timers } from '../../../common/runtime/timers.js';

/** `skipped`: not checked, and the message says why. */
type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface CheckResult {
  readonly check: string;
  readonly status: CheckStatus;
  readonly message: string;
}

const LABELS: Readonly<Record<CheckStatus, string>> = {
  ok: 'ok',
  warning: 'warning',
  failed: 'failed',
  skipped: 'not checked',
};

export function describeResult({ check, status, message }: CheckResult): string {
  return `${LABELS[status].padEnd(13)}${check.padEnd(16)}${message}`;
}

export function resultsOf(check: string) {
  const result =
    (status: CheckStatus) =>
    (message: string): CheckResult => ({ check, status, message });
  return {
    ok: result('ok'),
    warning: result('warning'),
    failed: result('failed'),
    skipped: result('skipped'),
  };
}

/** Reports a check that fails or exceeds its time, so that the others still run. */
export async function runWithin(
  limitMs: number,
  check: string,
  work: () => Promise<readonly CheckResult[]>,
  timers: Timers,
): Promise<readonly CheckResult[]> {
  const { failed } = resultsOf(check);
  const end = new AbortController();
  const limit = timers.sleep(limitMs, end.signal).then(
    () => [failed(`No answer within ${limitMs / 1000} seconds.`)],
    () => [],
  );
  try {
    return await Promise.race([work(), limit]);
  } catch (error) {
    return [failed(messageOf(error))];
  } finally {
    end.abort();
  }
}

/** Returns the message of the first cause: a storage error hides it from clients. */
export function messageOf(error: unknown): string {
  if (error instanceof ConfigurationError) {
    return error.problems.map(({ message }) => message).join(' ');
  }
  if (!(error instanceof Error)) {
    return String(error);
  }
  const code = 'code' in error ? String(error.code) : error.name;
  return error.cause === undefined ? error.message || code : messageOf(error.cause);
}
