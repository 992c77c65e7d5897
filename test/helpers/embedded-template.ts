import { constants } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestDataDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * A data directory of its own: a copy of the migrated one that the global set-up prepared, or an
 * empty one, which the first start fills more slowly, where the run is on PostgreSQL.
 */
export async function freshDataDirectory(): Promise<TestDataDirectory> {
  const template = process.env['TEST_EMBEDDED_TEMPLATE'];
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-data-'));
  if (template !== undefined) {
    await cp(template, path, { recursive: true, mode: constants.COPYFILE_FICLONE });
  }
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
