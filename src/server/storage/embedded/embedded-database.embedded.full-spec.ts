import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import { type EmbeddedDatabase, startEmbeddedDatabase } from './embedded-database.js';

const optionsOf = ({ address }: EmbeddedDatabase) => ({
  host: address.host,
  port: address.port,
  user: address.username,
  database: address.database,
});

describe(startEmbeddedDatabase.name, () => {
  let dataDir: string;
  let database: EmbeddedDatabase;
  let pool: Pool;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-embedded-'));
    database = await startEmbeddedDatabase({ dataDir });
    pool = new Pool({ ...optionsOf(database), max: 8 });
  });
  afterAll(async () => {
    await pool.end();
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('keeps other users away from its files and its socket', async () => {
    for (const path of [join(dataDir, 'db'), database.address.host]) {
      expect((await stat(path)).mode & 0o077).toBe(0);
    }
  });

  it('allocates no memory for buffers that one user does not need', async () => {
    expect((await pool.query('show shared_buffers')).rows).toEqual([{ shared_buffers: '8MB' }]);
  });

  it('refuses a second process on the same data directory', async () => {
    await expect(startEmbeddedDatabase({ dataDir })).rejects.toThrow('is in use by another');
  });

  it('loses no update of 100 concurrent transactions that lock one row', async () => {
    await pool.query('create table counter as select 0 as n');
    const add = async (): Promise<void> => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const { rows } = await client.query<{ n: number }>('select n from counter for update');
        await client.query('update counter set n = $1', [(rows[0]?.n ?? 0) + 1]);
        await client.query('commit');
      } finally {
        client.release();
      }
    };
    await Promise.all(Array.from({ length: 100 }, add));
    expect((await pool.query('select n from counter')).rows).toEqual([{ n: 100 }]);
  });

  it('gives every row to one claimer only', async () => {
    await pool.query(
      'create table job as select id, null::int as owner from generate_series(1, 60) id',
    );
    const claim = async (_: unknown, owner: number): Promise<unknown[]> =>
      (
        await pool.query(
          `update job set owner = $1 where id in (
             select id from job where owner is null order by id limit 5 for update skip locked)
           returning id`,
          [owner],
        )
      ).rows;
    const claimed = (await Promise.all(Array.from({ length: 20 }, claim))).flat();
    expect(claimed).toHaveLength(60);
    expect((await pool.query('select count(distinct id)::int n from job')).rows).toEqual([
      { n: 60 },
    ]);
  });

  it('permits one of many simultaneous first inserts', async () => {
    await pool.query('create table first (key text primary key, winner int)');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        pool.query('insert into first values ($1, $2) on conflict do nothing returning winner', [
          'k',
          i,
        ]),
      ),
    );
    expect(answers.flatMap((answer) => answer.rows)).toHaveLength(1);
  });

  it('gives every connection its own prepared statements, named or not', async () => {
    const [one, two] = [new Client(optionsOf(database)), new Client(optionsOf(database))];
    await Promise.all([one.connect(), two.connect()]);
    const ask = (client: Client, text: string) => client.query({ name: 'same', text });
    for (let round = 0; round < 2; round++) {
      expect((await ask(one, 'select 1 as n')).rows).toEqual([{ n: 1 }]);
      expect((await ask(two, 'select 2 as n')).rows).toEqual([{ n: 2 }]);
    }
    await Promise.all([one.end(), two.end()]);
    // The server detects the end of a connection a moment after the client.
    const left = 'select name from pg_prepared_statements';
    while ((await pool.query(left)).rows.length > 0) {
      await sleep(10);
    }
  });

  it('does not mix statements that arrive in many packets', async () => {
    const text = 'x'.repeat(3_000_000);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        pool.query('select length($1::text) as l, $2::int as i', [text.slice(i), i]),
      ),
    );
    expect(answers.map(({ rows }) => rows[0] as unknown)).toEqual(
      answers.map((_, i) => ({ l: text.length - i, i })),
    );
  });

  it('streams a result of many megabytes', async () => {
    const { rows } = await pool.query<{ t: string }>(
      "select repeat('y', 1000000) as t from generate_series(1, 16)",
    );
    expect(rows.reduce((sum, { t }) => sum + t.length, 0)).toBe(16_000_000);
  });

  it('keeps no memory of the results that it returned', async () => {
    const before = process.memoryUsage().rss;
    for (let read = 0; read < 300; read++) {
      await pool.query("select repeat('x', 1000000)");
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  it('continues after errors inside and outside a transaction', async () => {
    const wrong = Array.from({ length: 20 }, () => pool.query('select 1 / $1::int', [0]));
    const answers = await Promise.allSettled([...wrong, pool.query('select 3 as n')]);
    expect(answers.map(({ status }) => status)).toEqual([
      ...wrong.map(() => 'rejected'),
      'fulfilled',
    ]);
    const client = await pool.connect();
    await client.query('begin');
    await expect(client.query('selec')).rejects.toMatchObject({ code: '42601' });
    await expect(client.query('select 1')).rejects.toMatchObject({ code: '25P02' });
    await client.query('rollback');
    client.release();
  });

  it('refuses COPY FROM STDIN, which would end the backend', async () => {
    await expect(pool.query('copy counter from stdin')).rejects.toMatchObject({ code: '0A000' });
    await expect(pool.query('copy counter from stdin', [])).rejects.toMatchObject({
      code: '0A000',
    });
  });

  it.each([
    ['between two statements', undefined],
    ['while a statement runs', 'insert into dropped select 2 from pg_sleep(0.2)'],
  ])('rolls back a connection that drops %s', async (_, running) => {
    await pool.query('drop table if exists dropped');
    await pool.query('create table dropped (n int)');
    const client = new Client(optionsOf(database));
    client.on('error', () => undefined);
    await client.connect();
    await client.query('begin');
    await client.query('insert into dropped values (1)');
    if (running !== undefined) {
      client.query(running).catch(() => undefined);
      await sleep(50);
    }
    const waiting = pool.query('select n from dropped');
    (
      client as unknown as { connection: { stream: { destroy(): void } } }
    ).connection.stream.destroy();
    expect((await waiting).rows).toEqual([]);
  });
});
