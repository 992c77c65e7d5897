import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { DrainEvents } from '../../common/runtime/drain.events.js';
import { DatabaseService } from '../storage/database.service.js';
import { REDIS, type RedisService } from '../storage/redis/redis.service.js';
import { StorageLifecycleService } from '../storage/storage-lifecycle.service.js';

/** Several probes make one statement. */
const FRESH_MS = 500;

@Injectable()
export class HealthService {
  private probe: { readonly startedAt: number; readonly state: Promise<string> } | null = null;

  constructor(
    private readonly database: DatabaseService,
    private readonly storage: StorageLifecycleService,
    private readonly clock: Clock,
    private readonly drain: DrainEvents,
    @Inject(REDIS) private readonly redis: RedisService | null,
  ) {}

  /** A Redis that is away or refuses is reported, but the server stays ready: it can serve without. */
  async readiness() {
    const database = await this.databaseState();
    const isDraining = this.drain.signal.aborted;
    const isReady = database === 'ready' && !isDraining;
    return {
      isReady,
      dependencies: {
        server: isDraining ? 'draining' : 'ready',
        database,
        ...(this.redis && { redis: this.redis.state }),
      },
    };
  }

  /** `up` is about the answers of the dependency, not about its schema or its data. */
  async dependencies(): Promise<{ readonly name: string; readonly isUp: boolean }[]> {
    const isUp = !['connecting', 'away', 'read-only'].includes(await this.databaseState());
    const { redis } = this;
    const database = { name: 'database', isUp };
    return redis === null
      ? [database]
      : [database, { name: 'redis', isUp: redis.state === 'ready' }];
  }

  private async databaseState(): Promise<string> {
    if (this.storage.state !== 'ready') {
      return this.storage.state;
    }
    const now = this.clock.now();
    if (this.probe === null || now - this.probe.startedAt >= FRESH_MS) {
      this.probe = { startedAt: now, state: this.database.probe() };
    }
    return this.probe.state;
  }
}
