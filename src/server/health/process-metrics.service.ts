import { Injectable } from '@nestjs/common';
import { AuthService } from '../auth/auth.service.js';
import { readRevision, readVersion } from '../../common/version.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { DatabaseService } from '../storage/database.service.js';
import { LiveConnectionsService } from '../updates/live-connections.service.js';

/** Measures this process: its connections to clients and to the database, and its access cache. */
@Injectable()
export class ProcessMetricsService {
  constructor(
    private readonly metrics: MetricsService,
    private readonly auth: AuthService,
    private readonly database: DatabaseService,
    private readonly connections: LiveConnectionsService,
  ) {}

  observe(): void {
    const { metrics, auth, database, connections } = this;
    metrics.observeProcess(readVersion(), readRevision());
    metrics.observeCounts(
      'gatehouse_auth_access_cache_total',
      'Authenticated requests answered from the access cache, or not.',
      ['result'],
      () => [
        { result: 'hit', value: auth.cacheUse.hits },
        { result: 'miss', value: auth.cacheUse.misses },
      ],
    );
    metrics.observe(
      'gatehouse_live_connections',
      'Live connections of this process.',
      () => connections.total,
    );
    metrics.observe(
      'gatehouse_database_pool_connections',
      'Database connections held by this process.',
      () => database.poolUse().total,
    );
    metrics.observe(
      'gatehouse_database_pool_idle',
      'Database connections of this process that no statement uses.',
      () => database.poolUse().idle,
    );
    metrics.observe(
      'gatehouse_database_pool_waiting',
      'Statements of this process that wait for a database connection.',
      () => database.poolUse().waiting,
    );
  }
}
