import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Database } from '../storage/database.js';
import { REDIS, type RedisConnections } from '../storage/redis/redis-connections.js';
import { StorageLifecycle } from '../storage/storage-lifecycle.js';

/** An answer of the database is reused for this long: several probes make one statement. */
const FRESH_MS = 500;

@Injectable()
export class HealthService {
  private isDraining = false;
  private probe: { readonly startedAt: number; readonly state: Promise<string> } | null = null;

  constructor(
    private readonly database: Database,
    private readonly storage: StorageLifecycle,
    private readonly clock: Clock,
    @Inject(REDIS) private readonly redis: RedisConnections | null,
  ) {}

  /** From now on the process reports that it takes no more requests. */
  startDraining(): void {
    this.isDraining = true;
  }

  /** An unreachable Redis is reported, but the server stays ready: it can serve without. */
  async readiness() {
    const database = await this.databaseState();
    const isReady = database === 'ready' && !this.isDraining;
    return {
      isReady,
      dependencies: {
        server: this.isDraining ? 'draining' : 'ready',
        database,
        ...(this.redis && { redis: this.redis.isReady ? 'ready' : 'away' }),
      },
    };
  }

  private async databaseState(): Promise<string> {
    if (this.storage.state !== 'ready') {
      return this.storage.state;
    }
    const now = this.clock.now();
    if (this.probe === null || now - this.probe.startedAt >= FRESH_MS) {
      this.probe = { startedAt: now, state: this.probeDatabase() };
    }
    return this.probe.state;
  }

  private probeDatabase(): Promise<string> {
    return this.database.query('SELECT 1').then(
      () => 'ready',
      () => 'away',
    );
  }
}
