import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestDataDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

/** An empty data directory, in which the first start puts a migrated database. */
export async function freshDataDirectory(): Promise<TestDataDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-data-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
