import { command, type CliContext } from '../command.js';
import { usageError } from '../cli-error.js';
import { SERVER } from '../options.js';
import type { CurrentSession, ServerContext } from './current-session.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';

export const logout = command({
  name: 'logout',
  description: 'revoke the session; the device key stays, so that you can sign in again',
  options: [SERVER, ['--everywhere', "revoke the account's sessions on all devices"]],
  examples: ['gatehouse logout', 'gatehouse logout --everywhere'],
  async run(context) {
    const { requireSession } = await import('./current-session.js');
    const current = await requireSession(context);
    const { server, accountId } = current.session;
    const everywhere = context.options.everywhere === true;
    if (everywhere) {
      await current.client.logOutEverywhere();
      await removeLocalData(context, current, true);
    } else {
      // First, because the server may not answer.
      await removeLocalData(context, current, false);
      await revoke(context, current);
    }
    context.output.result(
      { server, accountId, everywhere },
      `Signed out of ${server}${everywhere ? ', on all devices' : ''}.`,
    );
  },
});

/** Rejects with the failure of a server that may not have ended the session. */
async function revoke({ output }: CliContext, { client }: CurrentSession): Promise<void> {
  await client.logOut().catch((error: unknown) => {
    // A token that the server refuses counts as revoked.
    if (error instanceof GatehouseProblem && error.status === 401) {
      return;
    }
    output.note(
      'This computer has forgotten the session, but the server may not have ended it. End it from another device, or with the next login: gatehouse logout --everywhere',
    );
    throw error;
  });
}

export const deleteAccount = command({
  name: 'delete-account',
  description: 'delete the account, with everything that the server keeps of it',
  options: [SERVER, ['--yes', 'delete it; needed, because a deletion cannot be undone']],
  examples: ['gatehouse delete-account --yes'],
  async run(context) {
    if (context.options.yes !== true) {
      throw usageError(
        'Deleting the account cannot be undone.',
        'To delete it: gatehouse delete-account --yes',
      );
    }
    const { requireSession } = await import('./current-session.js');
    const current = await requireSession(context);
    const { server, accountId } = current.session;
    await current.client.removeAccount();
    await current.store.forgetAccount(server, accountId);
    await removeLocalData(context, current, true);
    context.output.result({ server, accountId }, `Deleted the account ${accountId} on ${server}.`);
  },
});

/**
 * With GATEHOUSE_TOKEN, the stored login stays until it has ended as well.
 * @param isWhole true if all sessions of the account have ended
 */
async function removeLocalData(
  context: Pick<CliContext, 'environment'> & ServerContext,
  { session, store }: CurrentSession,
  isWhole: boolean,
): Promise<void> {
  const { server, accountId, token } = session;
  const stored = await store.session(server);
  if (stored !== null && (stored.token === token || (isWhole && stored.accountId === accountId))) {
    await store.removeSession(server);
  } else if (stored?.accountId === accountId) {
    return;
  }
  const { rm } = await import('node:fs/promises');
  const { snapshotFile } = await import('../notify/spool-accounts.js');
  await rm(snapshotFile(context, session), { force: true });
}
