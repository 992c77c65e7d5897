import { statementWork } from './server-data-source.js';

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
