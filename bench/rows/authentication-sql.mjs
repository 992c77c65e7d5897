import { getJson, signUp } from '../client.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { row } from '../report.mjs';
import { startStatementCounter } from '../statement-counter.mjs';

const name = 'authentication-sql';
const REQUESTS = 500;
/** The list is one select; every further statement is authentication. */
const OWN_STATEMENTS = 1;

export const group = {
  name,
  run: async (context) => {
    const counter = await startStatementCounter(context.databaseUrl);
    const statements = await statementsOf(context, counter).finally(counter.close);
    return [
      row({
        name,
        work: 'SQL statements a warm authenticated request, for authentication',
        unit: '',
        limit: null,
        gatehouse: statements.length / REQUESTS - OWN_STATEMENTS,
        bar: 'at most',
        least: 0,
        goal: null,
        note: `${statements.length} statements in ${REQUESTS} requests of a route that needs ${OWN_STATEMENTS}`,
        rounds: countsOf(statements),
      }),
    ];
  },
};

async function statementsOf(context, counter) {
  const gatehouse = await startGatehouse(context, { env: { DATABASE_URL: counter.url } });
  const { token } = await signUp(gatehouse.url);
  const ask = () => getJson(`${gatehouse.url}/v1/push-tokens`, token);
  await ask();
  counter.take();
  for (let index = 0; index < REQUESTS; index += 1) {
    await ask();
  }
  const statements = counter.take();
  await gatehouse.stop();
  return statements;
}

function countsOf(statements) {
  const counts = {};
  for (const text of statements) {
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return counts;
}
