import { GatehouseProblem } from '../../client/problem.js';
import type { CliContext } from '../context.js';
import { requireSession, type CurrentSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';

/** Ends the session here and on the server. The device key stays. */
export async function run(context: CliContext): Promise<number> {
  const current = await requireSession(context);
  const isEverywhere = context.options.everywhere === true;
  await revoke(current, isEverywhere);
  const { server, accountId } = current.session;
  await current.store.forgetSession(server);
  context.output.result(
    { server, accountId, everywhere: isEverywhere },
    `Logged out of ${server}${isEverywhere ? ', on all devices' : ''}.`,
  );
  return EXIT.ok;
}

/** A token that no longer passes is as good as revoked, but then nothing was revoked elsewhere. */
async function revoke({ client }: CurrentSession, isEverywhere: boolean): Promise<void> {
  try {
    await (isEverywhere ? client.logOutEverywhere() : client.logOut());
  } catch (error) {
    const isOver = error instanceof GatehouseProblem && error.status === 401;
    if (!isOver || isEverywhere) {
      throw error;
    }
  }
}
