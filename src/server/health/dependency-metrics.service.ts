import { statfs } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { storageConfig, type StorageSettings } from '../config/storage.config.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { SealedValuesService } from '../storage/sealing/sealed-values.service.js';
import { HealthService } from './health.service.js';

/** Measures readiness, the dependencies of this process, and what the master secrets open. */
@Injectable()
export class DependencyMetricsService {
  constructor(
    private readonly metrics: MetricsService,
    private readonly health: HealthService,
    private readonly sealedValues: SealedValuesService,
    @Inject(storageConfig.KEY) private readonly storage: StorageSettings,
  ) {}

  observe(): void {
    const { metrics, health, sealedValues } = this;
    metrics.ask('gatehouse_ready', 'Whether this process is ready (/readyz): 1, or 0.', async () =>
      Number((await health.readiness()).isReady),
    );
    metrics.observeEach(
      'gatehouse_dependency_up',
      'Dependencies (database, redis) that serve this process: 1, or 0.',
      ['dependency'],
      async () =>
        (await health.dependencies()).map(({ name: dependency, isUp }) => {
          return { dependency, value: Number(isUp) };
        }),
    );
    metrics.observeEach(
      'gatehouse_sealed_values',
      'Stored sealed values (at most 1000 of each kind are read) by the master secret that opens them: current, previous, former (removed from the configuration since the start), unknown.',
      ['secret'],
      () =>
        Object.entries(sealedValues.report().counts).map(([secret, value]) => ({ secret, value })),
    );
    if (this.storage.databaseUrl === null) {
      this.observeDisk(this.storage.dataDir);
    }
  }

  private observeDisk(dataDir: string): void {
    this.metrics.ask(
      'gatehouse_data_directory_free_bytes',
      'Free space for the embedded database.',
      async () => {
        const { bavail, bsize } = await statfs(dataDir);
        return bavail * bsize;
      },
    );
    this.metrics.ask(
      'gatehouse_data_directory_size_bytes',
      'Size of the file system of the embedded database.',
      async () => {
        const { blocks, bsize } = await statfs(dataDir);
        return blocks * bsize;
      },
    );
  }
}
