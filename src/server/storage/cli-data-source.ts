import { DataSource } from 'typeorm';
import { readEnvironment } from '../config/config.module.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { migrationOptions, withAddress } from './data-source.js';

const { storage } = resolveSettings(readEnvironment()).settings;
const { databaseUrl: url, caBundle } = storage;
if (url === null) {
  throw new Error('Set DATABASE_URL: the embedded database is migrated by the server.');
}

/** Serves `npx typeorm migration:show -d dist/server/storage/cli-data-source.js`, for example. */
export default new DataSource(withAddress(migrationOptions(storage), { url, caBundle }));
