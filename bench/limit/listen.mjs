/** The input of this limit, from the bench. */
export const input = JSON.parse(process.argv[2]);

/** Listens on a free port and reports it to the bench. */
export async function listen(app) {
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.send({ port: app.server.address().port });
}
