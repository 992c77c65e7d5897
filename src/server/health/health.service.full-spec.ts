import { createStore } from '../../../test/fixtures/programs/store-fixture.js';
import { waitFor } from '../../../test/helpers/wait.js';
import { Clock } from '../../common/runtime/clock.js';
import { DrainEvents } from '../../common/runtime/drain.events.js';
import { Timers } from '../../common/runtime/timers.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { dataSourceOptions } from '../storage/data-source.js';
import { DatabaseService } from '../storage/database.service.js';
import { ServerDataSource } from '../storage/server-data-source.js';
import type { StorageLifecycleService } from '../storage/storage-lifecycle.service.js';
import { HealthService } from './health.service.js';

class SetBackClock extends Clock {
  backMs = 0;

  override now(): number {
    return super.now() - this.backMs;
  }
}

describe(HealthService.name, () => {
  it('asks the database again after the clock was set back', async () => {
    const store = await createStore();
    const { storage } = resolveSettings({}).settings;
    const url = store.databaseUrl ?? '';
    const source = new ServerDataSource({ ...dataSourceOptions(storage), url });
    await source.initialize();
    source.open(true);
    const clock = new SetBackClock();
    const opened = { state: 'ready' } as StorageLifecycleService;
    const database = new DatabaseService(source);
    const health = new HealthService(
      database,
      opened,
      clock,
      new Timers(),
      new DrainEvents(),
      null,
    );
    const state = async () => (await health.readiness()).dependencies.database;
    expect(await state()).toMatch(/ready|schema-behind/);
    clock.backMs = 3_600_000;
    source.close();
    await waitFor('the database is away', async () => (await state()) === 'away');
    await source.destroy();
    await store.drop();
  });
});
