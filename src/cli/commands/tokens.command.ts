import type { SavedPushToken } from '../../client/api-client-answers.js';
import type { CliContext } from '../context.js';
import { requireSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { formatTime } from '../format-time.js';

/** Lists the account's push tokens, newest first. */
export async function list(context: CliContext): Promise<number> {
  const { client } = await requireSession(context);
  const tokens = await client.pushTokens();
  const words =
    tokens.length === 0
      ? 'No push tokens. Add one: gatehouse tokens add TOKEN'
      : tokens.map(describe).join('\n');
  context.output.result({ tokens }, words);
  return EXIT.ok;
}

export async function add(context: CliContext): Promise<number> {
  const { client } = await requireSession(context);
  const token = context.args[0] ?? '';
  await client.savePushToken(token, context.options.clientServerUrl);
  context.output.result({ token, saved: true }, `Saved ${token}.`);
  return EXIT.ok;
}

export async function remove(context: CliContext): Promise<number> {
  const { client } = await requireSession(context);
  const token = context.args[0] ?? '';
  await client.removePushToken(token);
  context.output.result({ token, removed: true }, `Removed ${token}.`);
  return EXIT.ok;
}

function describe({ token, clientServerUrl, updatedAt }: SavedPushToken): string {
  return [formatTime(updatedAt), token, clientServerUrl ?? ''].join('  ').trimEnd();
}
