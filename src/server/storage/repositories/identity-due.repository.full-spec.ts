import { randomUUID } from 'node:crypto';
import { Random } from '../../../common/runtime/random.js';
import { createStore, type Store } from '../../../../test/fixtures/programs/store-fixture.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import { dataSourceOptions } from '../data-source.js';
import { DatabaseService } from '../database.service.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { IdentityCredentialsService } from '../sealing/identity-credentials.service.js';
import { MasterKeys } from '../sealing/master-keys.js';
import { SealedBoxService } from '../sealing/sealed-box.service.js';
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
    const box = new SealedBoxService(
      new MasterKeys('a master secret of the tests', []),
      new Random(),
    );
    identities = new IdentityDueRepository(
      new DatabaseService(source),
      new IdentityCredentialsService(box),
      source.getRepository(IdentityEntity),
    );
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

  it('returns the oldest answer of the requested providers', async () => {
    await expect(identities.oldestCheck(['github', 'people'])).resolves.toBeNull();
    await link('github', NOW - 9 * DAY_MS, NOW - 2 * DAY_MS);
    await link('github', NOW - 9 * DAY_MS, NOW - DAY_MS);
    await link('elsewhere', NOW - 9 * DAY_MS, NOW - 8 * DAY_MS);
    await expect(identities.oldestCheck(['github', 'people'])).resolves.toBe(NOW - 2 * DAY_MS);
    // The time of the link counts for an identity without an answer.
    await link('people', NOW - 3 * DAY_MS, null);
    await expect(identities.oldestCheck(['github', 'people'])).resolves.toBe(NOW - 3 * DAY_MS);
    await expect(identities.oldestCheck(['github'])).resolves.toBe(NOW - 2 * DAY_MS);
    await expect(identities.oldestCheck([])).resolves.toBeNull();
  });

  describe('with more identities than one statement may change', () => {
    const COUNT = 5001;
    const anchorKey = 'a'.repeat(64);
    const issuer = { issuerName: 'CA', serialNumber: '1f' };

    beforeAll(async () => {
      const reference = JSON.stringify({ ...issuer, anchorKey });
      await source.query(
        `WITH "added" AS (
           INSERT INTO "account" ("id", "created_at", "key_mode", "encryption_mode")
           SELECT gen_random_uuid(), now(), 'keyless', 'plain' FROM generate_series(1, ${COUNT})
           RETURNING "id")
         INSERT INTO "identity" ("id", "account_id", "provider", "subject", "connected_at",
           "eligibility_status", "certificate")
         SELECT gen_random_uuid(), "id", 'mtls', "id"::text, now(), 'eligible',
           jsonb_build_object('reference', $1::jsonb) FROM "added"`,
        [reference],
      );
      await source.query(
        `CREATE FUNCTION "refuse_many"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           IF (SELECT count(*) FROM "changed") >= ${COUNT} THEN
             RAISE EXCEPTION 'too many rows in one statement';
           END IF;
           RETURN NULL;
         END $$`,
      );
      await source.query(
        `CREATE TRIGGER "refuse_many" AFTER UPDATE ON "identity" REFERENCING NEW TABLE AS "changed"
         FOR EACH STATEMENT EXECUTE FUNCTION "refuse_many"()`,
      );
    });
    afterAll(() => source.query(`DROP FUNCTION "refuse_many" CASCADE`));

    it('makes all of a provider due', async () => {
      await expect(identities.makeAllDue('mtls')).resolves.toBe(COUNT);
    });

    it('makes those of a withdrawn authority due, and no others', async () => {
      await expect(identities.makeUntrustedDue([anchorKey])).resolves.toBe(0);
      await expect(identities.makeUntrustedDue(['b'.repeat(64)])).resolves.toBe(COUNT);
    });

    it('makes those of a revoked certificate due, and no others', async () => {
      const { issuerName, serialNumber } = issuer;
      await expect(identities.makeCertificatesDue(issuerName, ['20'])).resolves.toBe(0);
      await expect(identities.makeCertificatesDue(issuerName, [serialNumber])).resolves.toBe(COUNT);
    });
  });

  it('limits the wait for the next check by the clock of the database', async () => {
    await link('slow', NOW, null);
    await source.query(
      `UPDATE "identity" SET "eligibility_next_check_at" = now() WHERE "provider" = 'slow'`,
    );
    for (const aheadMs of [0, DAY_MS, -60_000]) {
      const [leased] = await identities.lease('slow', 1, 60_000, 0);
      if (leased === undefined) {
        throw new Error('The identity is not due.');
      }
      const now = Date.now() + aheadMs;
      const record = { ...leased.record, status: 'eligible', checkedAt: now } as const;
      const result = { facts: null, issuer: null, event: null };
      await identities.store(
        leased,
        { ...result, record: { ...record, nextCheckAt: now + 60_000 } },
        new Date(now),
      );
      const rows = await source.query<{ isSoon: boolean }[]>(
        `UPDATE "identity" SET "eligibility_next_check_at" = now() WHERE "provider" = 'slow'
         RETURNING (SELECT "eligibility_next_check_at" <= now() + interval '1 minute'
           FROM "identity" WHERE "provider" = 'slow') AS "isSoon"`,
      );
      expect([aheadMs, rows]).toMatchObject([aheadMs, [[{ isSoon: true }], 1]]);
    }
  });
});
