import { Logger } from '@nestjs/common';
import { IdentityEvents } from '../auth/identity.events.js';
import { Clock } from '../../common/runtime/clock.js';
import { Random } from '../../common/runtime/random.js';
import { Timers } from '../../common/runtime/timers.js';
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

describe(SigningKeysService, () => {
  it('logs nothing about a database that still starts, and judges no token', async () => {
    const { storage } = resolveSettings({}).settings;
    const source = new ServerDataSource(dataSourceOptions(storage));
    const database = new DatabaseService(source);
    const secrets = new MasterKeys('a master secret of the tests', []);
    const keys = new SigningKeysService(
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
        new Timers(),
      ),
      new Clock(),
      new IdentityEvents(),
      new Timers(),
    );
    const logged: unknown[] = [];
    Logger.overrideLogger({
      log: () => undefined,
      warn: () => undefined,
      error: (...words: unknown[]) => void logged.push(words),
    });
    await keys.refresh();
    expect([logged, keys.published]).toEqual([[], []]);
    await expect(keys.signerOf('a.b.c', 'ES256')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
