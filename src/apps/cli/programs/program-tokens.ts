import { GatehouseClient } from '../../../packages/client/api/api-client.js';
import { onRefusal } from '../../../packages/client/api/problem.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import { notLoggedInError, refusedError, usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { durationMs } from '../options.js';
import { formatMinute } from '../output.js';
import { serverFetch } from '../server-fetch.js';
import { ofProgramServer } from './list-programs.js';
import { ProgramFiles, type ProgramFile } from './program-files.js';

type AddContext = CliContext<{
  readonly server?: string;
  readonly resource?: string;
  readonly scope?: readonly string[];
  readonly expires?: string;
}>;

export async function addProgram(context: AddContext): Promise<void> {
  const [name = ''] = context.args;
  const { resource = '', scope: scopes, expires } = context.options;
  const expiresInSeconds = expires === undefined ? undefined : secondsOf(expires);
  const files = new ProgramFiles(context.environment);
  const file = files.path(name);
  const current = await requireSession(context);
  const { session, client } = current;
  const added = await files.locked(name, async () => {
    await requireReplaceable(current, await files.read(name), name);
    const wanted = { name, resource, scopes, expiresInSeconds };
    const program = await ofProgramServer(client, client.programs.add(wanted));
    const { id, clientId, refreshToken } = program;
    const { server, accountId } = session;
    try {
      await files.save(name, { server, accountId, id, clientId, refreshToken });
    } catch (error) {
      await client.programs.end(id);
      throw error;
    }
    return program;
  });
  const { id, expiresAt } = added;
  context.output.result(
    { name, id, resource: added.resource, scopes: added.scopes, expiresAt, file },
    [
      `Added ${name} at ${added.resource.name} until ${formatMinute(expiresAt)}. It may:`,
      ...added.scopes.map(({ text }) => `  ${text}`),
      `For an access token: gatehouse programs token ${name}`,
    ].join('\n'),
  );
}

function secondsOf(text: string): number {
  const seconds = (durationMs(text) ?? NaN) / 1000;
  if (!(seconds >= 60 && seconds <= 31_536_000)) {
    throw usageError('--expires must be a time like 30m, 12h or 30d, at most 365d.');
  }
  return seconds;
}

/** @throws CliError where the file is of an access that has not ended, or that this login cannot judge */
async function requireReplaceable(
  { session: { server, accountId }, client }: CurrentSession,
  file: ProgramFile | null,
  name: string,
): Promise<void> {
  if (file === null) {
    return;
  }
  const isOwn = file.server === server && file.accountId === accountId;
  const listed = isOwn ? await ofProgramServer(client, client.programs.list()) : null;
  if (listed === null || listed.some(({ id }) => id === file.id)) {
    throw refusedError(
      `This computer has a program ${name} already.`,
      'program-exists',
      `Choose another name, or end it first: gatehouse programs end ${file.id} --server ${file.server}`,
    );
  }
}

/** Refreshes with the file locked, so that simultaneous calls store the newest refresh token. */
export async function printToken(context: CliContext): Promise<void> {
  const [name = ''] = context.args;
  const files = new ProgramFiles(context.environment);
  await requireFile(files, name);
  const { accessToken, expiresInSeconds, scopes } = await files.locked(name, async () => {
    const file = await requireFile(files, name);
    const token = await refresh(file, name);
    if (token.refreshToken !== file.refreshToken) {
      await files.save(name, { ...file, refreshToken: token.refreshToken });
    }
    return token;
  });
  context.output.result({ name, accessToken, expiresInSeconds, scopes }, accessToken);
}

async function refresh(file: ProgramFile, name: string) {
  const { server: serverUrl, clientId, refreshToken } = file;
  const client = new GatehouseClient({ serverUrl, fetch: serverFetch });
  const ended = onRefusal(['invalid-grant'], ({ code }) => {
    const hint = `Sign in to ${serverUrl}, and add it again: gatehouse programs add ${name} --help`;
    throw notLoggedInError(`The access of ${name} has ended.`, code, hint);
  });
  const token = client.programs.token({ clientId, refreshToken });
  return ofProgramServer(client, token).catch(ended);
}

/** @throws CliError with exit code 3 when this computer has no such program */
async function requireFile(files: ProgramFiles, name: string): Promise<ProgramFile> {
  const file = await files.read(name);
  if (file === null) {
    throw notLoggedInError(
      `This computer has no program ${name}.`,
      'no-program',
      `Add it: gatehouse programs add ${name} --help`,
    );
  }
  return file;
}
