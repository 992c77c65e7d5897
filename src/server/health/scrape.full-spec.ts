import { createStore, type Store } from '../../../test/fixtures/programs/store-fixture.js';
import { Timers } from '../../common/runtime/timers.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { dataSourceOptions } from '../storage/data-source.js';
import { DatabaseService } from '../storage/database.service.js';
import { ServerDataSource } from '../storage/server-data-source.js';

const { storage } = resolveSettings({}).settings;
const SCRAPES = 20;

describe('a scrape of an idle server', () => {
  let store: Store;
  let source: ServerDataSource;

  beforeAll(async () => {
    store = await createStore();
    const options = { ...dataSourceOptions(storage), url: store.databaseUrl ?? '' };
    // A connection ends after its statement: that of a scrape would be the only one.
    const extra = { ...(options.extra as object), maxUses: 1 };
    source = new ServerDataSource({ ...options, extra });
    await source.initialize();
    source.open(true);
  });
  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });

  it('does not count the statements of its own gauges', async () => {
    const metrics = new MetricsService(new Timers());
    const database = new DatabaseService(source);
    const ask = (name: string): void =>
      metrics.ask(name, 'Asks the database.', () => database.query('SELECT 1').then(() => 1));
    const used = (): number => database.poolUse().total - database.poolUse().idle;
    ask('before');
    metrics.observe('used', 'Connections in use.', used);
    metrics.observe('waiting', 'Waiting statements.', () => database.poolUse().waiting);
    ask('after');
    for (let scrape = 0; scrape < SCRAPES; scrape += 1) {
      const page = await metrics.registry.metrics();
      expect(page).toMatch(/^before 1$/m);
      expect(page).toMatch(/^after 1$/m);
      expect(page).toMatch(/^used 0$/m);
      expect(page).toMatch(/^waiting 0$/m);
    }
  });

  it('counts a statement that is about to get an idle connection as not waiting', async () => {
    const kept = new ServerDataSource({
      ...dataSourceOptions(storage),
      url: store.databaseUrl ?? '',
    });
    await kept.initialize();
    kept.open(true);
    const database = new DatabaseService(kept);
    await database.query('SELECT 1');
    const running = database.query('SELECT 1');
    expect(database.poolUse().waiting).toBe(0);
    await running;
    await kept.destroy();
  });
});
