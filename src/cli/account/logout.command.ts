import { command } from '../command.js';
import { SERVER } from '../options.js';

/** Ends the session here and on the server. The device key stays. */
export const logout = command({
  name: 'logout',
  description: 'revoke the session; the device key stays, so that you can log in again',
  options: [SERVER, ['--everywhere', "revoke the account's sessions on all devices"]],
  examples: ['gatehouse logout', 'gatehouse logout --everywhere'],
  async run(context) {
    const { requireSession } = await import('./current-session.js');
    const { rm } = await import('node:fs/promises');
    const { snapshotFile } = await import('../notify/spool-accounts.js');
    const { GatehouseProblem } = await import('../../client/api/problem.js');
    const { client, session, store } = await requireSession(context);
    const { server, accountId } = session;
    const everywhere = context.options.everywhere === true;
    if (everywhere) {
      await client.logOutEverywhere();
    } else {
      // A token that is no longer accepted counts as revoked.
      await client.logOut().catch((error: unknown) => {
        if (!(error instanceof GatehouseProblem && error.status === 401)) {
          throw error;
        }
      });
    }
    await store.removeSession(server);
    await rm(snapshotFile(context, session), { force: true });
    context.output.result(
      { server, accountId, everywhere },
      `Logged out of ${server}${everywhere ? ', on all devices' : ''}.`,
    );
  },
});
