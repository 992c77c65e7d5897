import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { transformFile } from '@swc/core';
import { Redis } from 'ioredis';
import { Client, Pool } from 'pg';
import { startService } from './service-process.js';
import { createDatabase, startPostgres, startRedis, type Service } from './services.js';

describe(startPostgres.name, () => {
  let postgres: Service;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  it('keeps acknowledged rows when it is killed and started again', async () => {
    const database = await createDatabase(postgres.url);
    await run(database.url, 'create table kept as select 7 as n');
    const { pid } = postgres;
    await postgres.kill('SIGKILL');
    await expect(run(database.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await postgres.restart();
    expect(postgres.pid).not.toBe(pid);
    expect(await run(database.url, 'select n from kept')).toEqual([{ n: 7 }]);
    await database.drop();
  });

  it('hangs on SIGSTOP, connections that are open included, until SIGCONT', async () => {
    const pool = new Pool({ connectionString: postgres.url, max: 1 });
    await pool.query('select 1');
    await postgres.kill('SIGSTOP');
    const answer = pool.query('select 5 as n');
    const first = await Promise.race([answer, sleep(300, 'nothing')]);
    expect(first).toBe('nothing');
    await postgres.kill('SIGCONT');
    expect((await answer).rows).toEqual([{ n: 5 }]);
    await pool.end();
  });

  it('drops a database that is in use', async () => {
    const database = await createDatabase(postgres.url, { name: 'Odd "name"' });
    const client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    await database.drop();
    await expect(run(database.url, 'select 1')).rejects.toMatchObject({ code: '3D000' });
  });
});

describe(startRedis.name, () => {
  it('answers, and is gone after stop', async () => {
    const service = await startRedis();
    const redis = new Redis(service.url);
    expect(await redis.set('a', 'b')).toBe('OK');
    redis.disconnect();
    const { pid } = service;
    await service.stop();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});

describe(startService.name, () => {
  it('leaves no server and no files behind when its process is killed', async () => {
    const home = mkdtempSync(join(tmpdir(), 'gatehouse-orphan-'));
    const { code } = await transformFile(join(import.meta.dirname, 'service-process.ts'));
    const script = `${code}
      const service = await startService({
        file: 'sleep', args: ['600'], url: '', home: ${JSON.stringify(home)},
        stopSignal: 'SIGTERM', probe: async () => {},
      });
      console.log(service.pid);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const orphan = `/proc/${Number(line.toString())}`;
    expect(existsSync(orphan)).toBe(true);
    parent.kill('SIGKILL');
    while (existsSync(orphan) || existsSync(home)) {
      await sleep(20);
    }
  });
});

async function run(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
