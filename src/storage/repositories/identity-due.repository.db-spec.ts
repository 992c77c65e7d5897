import { randomUUID } from 'node:crypto';
import { createStore, type Store } from '../../../test/helpers/server-store.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import { dataSourceOptions } from '../data-source.js';
import { Database } from '../database.js';
import { IdentityCredentials } from '../sealing/content-at-rest.js';
import { MasterKeys } from '../sealing/master-keys.js';
import { SealedBox } from '../sealing/sealed-box.js';
import { ServerDataSource } from '../server-data-source.js';
import { IdentityDueRepository } from './identity-due.repository.js';

const { storage } = resolveSettings({}).settings;
const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;

describe(IdentityDueRepository, () => {
  let store: Store;
  let source: ServerDataSource;
  let identities: IdentityDueRepository;
  beforeAll(async () => {
    store = await createStore();
    source = new ServerDataSource({ ...dataSourceOptions(storage), url: store.databaseUrl ?? '' });
    await source.initialize();
    source.open(true);
    const box = new SealedBox(new MasterKeys('a master secret of the tests', []));
    identities = new IdentityDueRepository(new Database(source), new IdentityCredentials(box));
  });
  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });

  async function link(provider: string, connectedAt: number, checkedAt: number | null) {
    const accountId = randomUUID();
    await source.query(
      `INSERT INTO "account" ("id", "created_at", "key_mode", "encryption_mode")
       VALUES ($1, now(), 'keyless', 'plain')`,
      [accountId],
    );
    await source.query(
      `INSERT INTO "identity" ("id", "account_id", "provider", "subject", "connected_at",
         "eligibility_checked_at") VALUES ($1, $2, $3, $4, $5, $6)`,
      [
        randomUUID(),
        accountId,
        provider,
        accountId,
        new Date(connectedAt),
        checkedAt && new Date(checkedAt),
      ],
    );
  }

  it('knows the oldest answer of the providers it is asked about', async () => {
    await expect(identities.oldestCheck(['github', 'people'])).resolves.toBeNull();
    await link('github', NOW - 9 * DAY_MS, NOW - 2 * DAY_MS);
    await link('github', NOW - 9 * DAY_MS, NOW - DAY_MS);
    await link('elsewhere', NOW - 9 * DAY_MS, NOW - 8 * DAY_MS);
    await expect(identities.oldestCheck(['github', 'people'])).resolves.toBe(NOW - 2 * DAY_MS);
    // One that was never answered for counts from the link.
    await link('people', NOW - 3 * DAY_MS, null);
    await expect(identities.oldestCheck(['github', 'people'])).resolves.toBe(NOW - 3 * DAY_MS);
    await expect(identities.oldestCheck(['github'])).resolves.toBe(NOW - 2 * DAY_MS);
    await expect(identities.oldestCheck([])).resolves.toBeNull();
  });
});
