import type { StoredAuditEvent } from '../../policy/audit-event.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { formatTime } from '../format-time.js';
import { withDatabase } from '../operator-database.js';

const PAGE = 1000;
const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Prints what happened to accounts, oldest first. */
export function run(context: CliContext): Promise<number> {
  const since = sinceOf(context.options.since ?? '24h', Date.now());
  return withDatabase(context, async ({ audit }) => {
    let page: StoredAuditEvent[] = [];
    do {
      page = await audit.page(since, page.at(-1)?.id ?? '0', PAGE);
      for (const event of page) {
        context.output.result(event, describe(event));
      }
    } while (page.length === PAGE);
    return EXIT.ok;
  });
}

function sinceOf(text: string, now: number): Date {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const date =
    count === undefined ? new Date(text) : new Date(now - Number(count) * (UNITS_MS[unit] ?? 0));
  if (Number.isNaN(date.getTime())) {
    throw new CliError('--since must be a time like 30m, 24h, 7d or 2026-05-01T00:00:00Z.', {
      exitCode: EXIT.usage,
      code: 'usage',
    });
  }
  return date;
}

function describe({
  at,
  kind,
  actor,
  accountId,
  provider,
  reason,
  count,
}: StoredAuditEvent): string {
  const about = [accountId, provider, reason, (count ?? 1) > 1 ? `${count} times` : undefined];
  return [formatTime(at), kind, `by ${actor}`, ...about.filter(Boolean)].join('  ');
}
