import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { AuditRepository } from '../../storage/repositories/audit.repository.js';
import type { LoginCountsDto, LoginPeriod } from './admin-logins.dto.js';

const HOUR_MS = 3_600_000;
/** A week of a large server has millions of events: each console does not count them again. */
const KEPT_MS = 60_000;

const PERIODS: Readonly<
  Record<LoginPeriod, { readonly bucketMs: number; readonly count: number }>
> = {
  day: { bucketMs: HOUR_MS, count: 24 },
  week: { bucketMs: 6 * HOUR_MS, count: 28 },
};

interface Kept {
  readonly at: number;
  readonly counts: Promise<LoginCountsDto>;
}

@Injectable()
export class AdminLoginsService {
  private readonly kept = new Map<LoginPeriod, Kept>();

  constructor(
    private readonly events: AuditRepository,
    private readonly clock: Clock,
  ) {}

  counts(period: LoginPeriod): Promise<LoginCountsDto> {
    const at = this.clock.elapsed();
    const known = this.kept.get(period);
    if (known !== undefined && at - known.at < KEPT_MS) {
      return known.counts;
    }
    const counts = this.read(period, this.clock.now());
    this.kept.set(period, { at, counts });
    counts.catch(() => this.kept.delete(period));
    return counts;
  }

  private async read(period: LoginPeriod, now: number): Promise<LoginCountsDto> {
    const { bucketMs, count } = PERIODS[period];
    const until = (Math.floor(now / bucketMs) + 1) * bucketMs;
    const since = until - count * bucketMs;
    const rows = await this.events.loginCounts(new Date(since), new Date(until), bucketMs);
    const found = new Map(rows.map(({ bucket, ...counted }) => [bucket, counted]));
    const buckets = Array.from({ length: count }, (_, index) => ({
      at: since + index * bucketMs,
      ...(found.get(index) ?? { logins: 0, refusals: 0 }),
    }));
    return { bucketMs, buckets };
  }
}
