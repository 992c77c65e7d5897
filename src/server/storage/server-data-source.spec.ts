import { ServerDataSource, statementWork } from './server-data-source.js';

const POSTGRES = { type: 'postgres' } as const;

describe(statementWork.name, () => {
  it.each([
    ['SELECT 1', 'SELECT'],
    ['START TRANSACTION', 'START'],
    ['UPDATE "account" SET "x" = $1 WHERE "id" = $2', 'UPDATE account'],
    ['SELECT "a", (SELECT 1 FROM "identity" WHERE "x" = ($1)) FROM "account"', 'SELECT account'],
    ['WITH "made" AS (INSERT INTO "account" ("id") VALUES ($1)) SELECT 1', 'INSERT account'],
    ['VACUUM', 'SQL'],
  ])('names %s as %s', (sql, name) => {
    expect(statementWork(sql).name).toBe(name);
  });
});

describe(ServerDataSource.name, () => {
  it('names a prepared statement alike in each process, whatever came before', () => {
    const [one, other] = [new ServerDataSource(POSTGRES), new ServerDataSource(POSTGRES)];
    one.open(true);
    other.open(true);
    const name = one.statementName('SELECT 1');
    expect(name).toMatch(/^gatehouse_[\w-]{22}$/);
    expect(other.statementName('SELECT 2')).not.toBe(name);
    expect(other.statementName('SELECT 1')).toBe(name);
  });

  it('prepares nothing more once a connection has lost a statement', () => {
    const source = new ServerDataSource(POSTGRES);
    source.open(true);
    source.reportFailure(Object.assign(new Error('gone'), { code: '26000', severity: 'ERROR' }));
    expect([source.prepares, source.statementName('SELECT 1')]).toEqual([false, undefined]);
  });
});
