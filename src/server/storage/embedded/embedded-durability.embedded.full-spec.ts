import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { createEmbeddedStore } from '../../../../test/fixtures/programs/store-fixture.js';
import { type EmbeddedDatabase, startEmbeddedDatabase } from './embedded-database.js';

const optionsOf = ({ address }: EmbeddedDatabase) => ({
  host: address.host,
  port: address.port,
  user: address.username,
  database: address.database,
});

async function withDataDir(work: (dataDir: string) => Promise<void>): Promise<void> {
  const { env, drop } = await createEmbeddedStore();
  try {
    await work(env.SERVICE_DATA_DIR);
  } finally {
    await drop();
  }
}

describe('the end of the embedded database', () => {
  it('reports the end of the backend, and the directory can be opened again', async () => {
    await withDataDir(async (dataDir) => {
      const reported = withResolvers<Error>();
      const database = await startEmbeddedDatabase({ dataDir, onExit: reported.resolve });
      const client = new Client(optionsOf(database));
      client.on('error', () => undefined);
      await client.connect();
      await client.query('create table kept as select 1 as n');
      // The statement is written so that the filter of statements that end the backend does not
      // refuse it.
      await client.query('copy kept from/**/stdin').catch(() => undefined);
      expect((await reported.promise).message).toContain('ended unexpectedly');
      await database.stop();
      const again = await startEmbeddedDatabase({ dataDir });
      const other = new Client(optionsOf(again));
      await other.connect();
      expect((await other.query('select n from kept')).rows).toEqual([{ n: 1 }]);
      await other.end();
      await again.stop();
    });
  });

  it('moves its socket when the data directory is too deep for one', async () => {
    await withDataDir(async (dataDir) => {
      const deep = join(dataDir, 'd'.repeat(120));
      const database = await startEmbeddedDatabase({ dataDir: deep });
      expect((await stat(database.address.host)).mode & 0o077).toBe(0);
      const client = new Client(optionsOf(database));
      await client.connect();
      await client.end();
      await database.stop();
      expect(existsSync(database.address.host)).toBe(false);
    });
  });

  it('stops within a limit although a statement never ends', async () => {
    await withDataDir(async (dataDir) => {
      const database = await startEmbeddedDatabase({ dataDir, stopLimitMs: 500 });
      const client = new Client(optionsOf(database));
      client.on('error', () => undefined);
      await client.connect();
      client.query('do $$ begin loop end loop; end $$').catch(() => undefined);
      await database.stop();
      await (await startEmbeddedDatabase({ dataDir })).stop();
    });
  });

  it('keeps every acknowledged commit when the process is killed while it writes', async () => {
    await withDataDir(async (dataDir) => {
      const acknowledged = new Set<number>();
      for (let round = 0; round < 3; round++) {
        const writer = startWriter(dataDir, round * 1_000_000);
        await collectUntil(writer, acknowledged, 400 * (round + 1));
        writer.kill('SIGKILL');
        await once(writer, 'close');
      }
      const database = await startEmbeddedDatabase({ dataDir });
      const client = new Client(optionsOf(database));
      await client.connect();
      const { rows } = await client.query<{ id: number }>('select id from written');
      await client.end();
      await database.stop();
      const found = new Set(rows.map(({ id }) => id));
      expect([...acknowledged].filter((id) => !found.has(id))).toEqual([]);
      expect(acknowledged.size).toBeGreaterThanOrEqual(1200);
    });
  });
});

/** A process that commits rows on 8 connections and prints each id once it is acknowledged. */
function startWriter(dataDir: string, firstId: number): ChildProcess {
  const module = pathToFileURL(
    join(process.cwd(), 'dist/server/storage/embedded/embedded-database.js'),
  ).href;
  const script = `
    import pg from 'pg';
    import { writeSync } from 'node:fs';
    import { startEmbeddedDatabase } from ${JSON.stringify(module)};
    const { address } = await startEmbeddedDatabase({ dataDir: ${JSON.stringify(dataDir)} });
    const pool = new pg.Pool({ ...address, user: address.username, max: 8 });
    await pool.query('create table if not exists written (id int primary key, filler text)');
    let id = ${firstId};
    const write = async () => {
      for (;;) {
        const own = id++;
        await pool.query('insert into written values ($1, $2)', [own, 'x'.repeat(own % 3000)]);
        writeSync(1, own + '\\n');
        if (own % 150 === 0) await pool.query('checkpoint');
      }
    };
    await Promise.all(Array.from({ length: 8 }, write));`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

async function collectUntil(
  writer: ChildProcess,
  acknowledged: Set<number>,
  size: number,
): Promise<void> {
  let rest = '';
  const enough = withResolvers<void>();
  writer.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach((line) => acknowledged.add(Number(line)));
    if (acknowledged.size >= size) {
      enough.resolve();
    }
  });
  await enough.promise;
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}
