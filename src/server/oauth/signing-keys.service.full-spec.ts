import { createStore, type Store } from '../../../test/fixtures/programs/store-fixture.js';
import { TcpProxy } from '../../../test/helpers/tcp-proxy.js';
import { Clock } from '../../common/runtime/clock.js';
import { Random } from '../../common/runtime/random.js';
import { Timers } from '../../common/runtime/timers.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { dataSourceOptions } from '../storage/data-source.js';
import { DatabaseService } from '../storage/database.service.js';
import { SigningKeyRepository } from '../storage/repositories/oauth/signing-key.repository.js';
import { MasterKeys } from '../storage/sealing/master-keys.js';
import { SealedBoxService } from '../storage/sealing/sealed-box.service.js';
import { SealedValuesService } from '../storage/sealing/sealed-values.service.js';
import { ServerDataSource } from '../storage/server-data-source.js';
import { StorageLifecycleService } from '../storage/storage-lifecycle.service.js';
import { SigningKeysService } from './signing-keys.service.js';

type Entities = ConstructorParameters<typeof SigningKeyRepository>[3];

const TIMEOUTS = {
  SERVICE_DATABASE_CONNECT_TIMEOUT_MS: '1000',
  SERVICE_DATABASE_STATEMENT_TIMEOUT_MS: '100',
};
/** The kid has the form of a thumbprint. */
const UNKNOWN = `${Buffer.from(JSON.stringify({ kid: 'k'.repeat(43) })).toString('base64url')}.e30.`;

describe('SigningKeysService with a database that no longer answers', () => {
  let isSilent = false;
  const asked = new Set<unknown>();
  let store: Store;
  let proxy: TcpProxy;
  let source: ServerDataSource;

  beforeAll(async () => {
    store = await createStore();
    const url = store.databaseUrl ?? '';
    proxy = await TcpProxy.start(
      Number(new URL(url).port),
      (chunk) => (isSilent ? Buffer.alloc(0) : chunk),
      (_chunk, connection) => void (isSilent && asked.add(connection)),
    );
    const { storage } = resolveSettings(TIMEOUTS).settings;
    source = new ServerDataSource({ ...dataSourceOptions(storage), url: proxy.urlFor(url) });
    await source.initialize();
    source.open(true);
  });
  afterAll(async () => {
    isSilent = false;
    proxy.close();
    await source.destroy();
    await store.drop();
  });

  it('asks it for one caller, and once more for all that wait', async () => {
    const keys = keysIn(source);
    await keys.refresh();
    expect(keys.published).not.toEqual([]);
    isSilent = true;
    const refreshes = Array.from({ length: 20 }, () => keys.refresh());
    await expect(keys.signerOf(UNKNOWN, 'ES256')).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all(refreshes);
    // A connection whose statement had no answer is not used again.
    expect(asked.size).toBe(2);
    isSilent = false;
    expect(await keys.signerOf(UNKNOWN, 'ES256')).toBeUndefined();
  });
});

function keysIn(source: ServerDataSource): SigningKeysService {
  const { storage } = resolveSettings(TIMEOUTS).settings;
  const database = new DatabaseService(source);
  const secrets = new MasterKeys('a master secret of the tests', []);
  const timers = new Timers();
  return new SigningKeysService(
    new SigningKeyRepository(
      database,
      new SealedBoxService(secrets, new Random()),
      new Random(),
      source.getRepository('signing_key') as unknown as Entities,
    ),
    new StorageLifecycleService(
      storage,
      source,
      new SealedValuesService(secrets, database),
      timers,
    ),
    new Clock(),
    new IdentityEvents(),
    timers,
  );
}
