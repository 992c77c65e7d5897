import pg from 'pg';

/** The input of this limit, from the bench. */
export const input = JSON.parse(process.argv[2]);

/** Prepares a statement on connections to the database of the input. @returns what runs it */
export function prepare(name, text) {
  const pool = new pg.Pool({ connectionString: input.databaseUrl, max: input.poolSize });
  return async (values) => (await pool.query({ name, text, values })).rows;
}

/** Listens on a free port and reports it to the bench. */
export async function listen(app) {
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.send({ port: app.server.address().port });
}
