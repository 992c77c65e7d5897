import { startEmbeddedDatabase } from '../../dist/storage/embedded/embedded-database.js';
import { runMigrations } from '../../dist/storage/data-source.js';

// Run with the path of the data directory to make: initdb and migrations, then a clean stop.
const database = await startEmbeddedDatabase({ dataDir: process.argv[2] });
try {
  await runMigrations(database.address, { connectTimeoutMs: 120_000 });
} finally {
  await database.stop();
}
