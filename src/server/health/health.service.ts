import { Inject, Injectable } from '@nestjs/common';
import { Timers } from '../../common/runtime/timers.js';
import { Clock } from '../../common/runtime/clock.js';
import { DrainEvents } from '../../common/runtime/drain.events.js';
import { DatabaseService } from '../storage/database.service.js';
import { REDIS, type RedisService } from '../storage/redis/redis.service.js';
import {
  StorageLifecycleService,
  type StorageState,
} from '../storage/storage-lifecycle.service.js';

/** Several probes make one statement. */
const FRESH_MS = 500;
/** Less than the 3 s that the probes of the chart wait. A database that hangs is away. */
const ANSWER_MS = 2000;

type DatabaseState = StorageState | 'away';

/** States without an answer. The others are about the schema or the data. */
const DOWN: readonly DatabaseState[] = ['connecting', 'away', 'read-only'];

interface Probe {
  readonly startedAt: number;
  /** Never rejects. */
  readonly state: Promise<DatabaseState>;
  isAnswered: boolean;
}

@Injectable()
export class HealthService {
  private probe: Probe | null = null;

  constructor(
    private readonly database: DatabaseService,
    private readonly storage: StorageLifecycleService,
    private readonly clock: Clock,
    private readonly timers: Timers,
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

  async dependencies(): Promise<{ readonly name: string; readonly isUp: boolean }[]> {
    const isUp = !DOWN.includes(await this.databaseState());
    const { redis } = this;
    const database = { name: 'database', isUp };
    return redis === null
      ? [database]
      : [database, { name: 'redis', isUp: redis.state === 'ready' }];
  }

  private async databaseState(): Promise<DatabaseState> {
    if (this.storage.state !== 'ready') {
      return this.storage.state;
    }
    const now = this.clock.elapsed();
    const { probe } = this;
    const isFresh = probe !== null && !(probe.isAnswered && now - probe.startedAt >= FRESH_MS);
    const { state } = isFresh ? probe : this.startProbe(now);
    return this.timers.inTime(ANSWER_MS, state, 'away');
  }

  /** A statement that hangs keeps its connection, so there is at most one. */
  private startProbe(startedAt: number): Probe {
    const state = this.database.probe().finally(() => (probe.isAnswered = true));
    const probe: Probe = { startedAt, state, isAnswered: false };
    this.probe = probe;
    return probe;
  }
}
