import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/runtime/clock.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { deactivationLimit } from '../config/providers-file/deactivation-limit.js';
import { DirectoryCountsService } from '../identities/directory-counts.service.js';
import type { DirectoryCounts } from '../storage/repositories/directory/directory-person.repository.js';
import { DirectoriesService } from './directories.service.js';

const LOOK_EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Counts the people of directories, and warns of many deactivations within an hour. */
@Injectable()
export class DirectoryMetricsService implements OnModuleInit {
  private readonly logger = new Logger('Directory');
  private readonly warnedAt = new Map<string, number>();

  constructor(
    private readonly people: DirectoryCountsService,
    private readonly directories: DirectoriesService,
    private readonly metrics: MetricsService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.metrics.observeEach(
      'gatehouse_directory_people',
      'People that a directory reports, by state: active, inactive, linked to an identity, or ambiguous.',
      ['provider', 'state'],
      async () =>
        this.each(({ people, active, linked, ambiguous }) => ({
          active,
          inactive: people - active,
          linked,
          ambiguous,
        })),
    );
    this.metrics.observeEach(
      'gatehouse_directory_deactivations',
      'People that a directory deactivated within the last hour, and the limit that raises the alarm.',
      ['provider', 'state'],
      async () =>
        this.each((counts, provider) => ({
          deactivated: counts.recentlyDeactivated,
          limit: this.limitOf(provider, counts),
        })),
    );
  }

  @Interval(LOOK_EVERY_MS)
  async warn(): Promise<void> {
    const counted = await this.people.all().catch(() => new Map<string, DirectoryCounts>());
    const now = this.clock.now();
    for (const [provider, counts] of counted) {
      const isDue = now - (this.warnedAt.get(provider) ?? -Infinity) >= HOUR_MS;
      if (isDue && counts.recentlyDeactivated > this.limitOf(provider, counts)) {
        this.warnedAt.set(provider, now);
        const people = counts.recentlyDeactivated;
        this.logger.warn({ msg: 'directory deactivated many people', provider, people });
      }
    }
  }

  private limitOf(provider: string, { people }: DirectoryCounts): number {
    const percentage = this.directories.settingsOf(provider)?.deactivationAlarm ?? 100;
    return deactivationLimit(people, percentage);
  }

  private async each(
    read: (counts: DirectoryCounts, provider: string) => Readonly<Record<string, number>>,
  ) {
    const counted = await this.people.all();
    return [...counted].flatMap(([provider, counts]) =>
      Object.entries(read(counts, provider)).map(([state, value]) => ({ provider, state, value })),
    );
  }
}
