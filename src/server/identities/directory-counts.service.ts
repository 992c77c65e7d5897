import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { providersConfig, type ConfiguredProviders } from '../config/providers.config.js';
import {
  DirectoryPersonRepository,
  type DirectoryCounts,
} from '../storage/repositories/directory/directory-person.repository.js';

/** The query counts every person, so its result is kept for all callers. */
const FRESH_MS = 30_000;

type Counted = ReadonlyMap<string, DirectoryCounts>;

/** The people that each directory reports, counted. */
@Injectable()
export class DirectoryCountsService {
  private known: { readonly at: number; readonly counts: Promise<Counted> } | null = null;

  constructor(
    private readonly people: DirectoryPersonRepository,
    private readonly clock: Clock,
    @Inject(providersConfig.KEY) private readonly providers: ConfiguredProviders,
  ) {}

  /** By provider, those with a directory. @throws AppError `unavailable` */
  async all(): Promise<Counted> {
    const now = this.clock.elapsed();
    if (this.known === null || now - this.known.at > FRESH_MS) {
      this.known = { at: now, counts: this.count() };
    }
    try {
      return await this.known.counts;
    } catch (error) {
      this.known = null;
      throw error;
    }
  }

  private async count(): Promise<Counted> {
    const counted = new Map<string, DirectoryCounts>();
    for (const provider of this.providers) {
      if (provider.type === 'oidc' && provider.scim !== null) {
        counted.set(provider.id, await this.people.counts(provider.id));
      }
    }
    return counted;
  }
}
