import type { GatehouseClient } from '../../../packages/client/api/api-client.js';
import { nullIfNotFound, onRefusal } from '../../../packages/client/api/problem.js';
import { placeName, publisherOf } from '../../../packages/client/programs/program-host.js';
import type { ListedProgram } from '../../../packages/client/programs/program-routes.js';
import { requireToken } from '../account/current-session.js';
import { describeMethod } from '../account/login-method.js';
import { refusedError, usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { oneById } from '../one-by-id.js';
import { formatMinute, type Listing } from '../output.js';
import { ProgramFiles } from './program-files.js';

type ListContext = CliContext<{ readonly server?: string }>;
type EndContext = CliContext<{
  readonly server?: string;
  readonly all?: boolean;
  readonly program?: string;
}>;

const NONE = 'No program acts for you.';

/** The columns are those of --fields; without them, each program is a paragraph. */
const LISTING: Listing<ListedProgram> = {
  fields: [
    ...(['id', 'client', 'redirectUri', 'resource', 'scopes', 'kind', 'method'] as const),
    ...(['createdAt', 'lastUsedAt', 'lastAddress', 'expiresAt'] as const),
  ],
  columns: [],
  empty: NONE,
};

export async function listPrograms(context: ListContext): Promise<void> {
  const { output } = context;
  const { client } = await requireToken(context);
  const listed = await ofProgramServer(client, client.programs.list());
  const isText = !output.isJson && output.printsAllColumns && listed.length > 0;
  if (isText) {
    output.result({}, describePrograms(listed));
  } else {
    await output.list(LISTING, listed);
  }
}

export async function endPrograms(context: EndContext): Promise<void> {
  const { output, environment } = context;
  const choose = choiceOf(context);
  const { client, server } = await requireToken(context);
  const listed = await ofProgramServer(client, client.programs.list());
  const chosen = choose(listed);
  const [id] = context.args;
  if (chosen.length === 0 && context.options.all !== true) {
    throw refusedError('No program that acts for you has this client id.', 'not-found');
  }
  const files = new ProgramFiles(environment);
  for (const program of chosen) {
    // Another device may end one of several meanwhile: the command ends the others nevertheless.
    const ending = client.programs.end(program.id);
    await (id === undefined ? ending.catch(nullIfNotFound) : ending);
    await files.removeOf(server, program.id);
    const text = `Ended ${program.client.name} at ${program.resource.name} (${program.id}).`;
    output.result({ id: program.id, client: program.client, ended: true }, text);
  }
  if (chosen.length === 0) {
    output.note(NONE);
  }
}

type Choice = (listed: readonly ListedProgram[]) => readonly ListedProgram[];

function choiceOf({ args: [id], options }: EndContext): Choice {
  const { all = false, program } = options;
  if ([id !== undefined, program !== undefined, all].filter(Boolean).length !== 1) {
    throw usageError('Name an id, --program or --all.');
  }
  if (id !== undefined) {
    return (listed) => [oneById(listed, id, 'program', 'gatehouse programs')];
  }
  return (listed) => (all ? listed : listed.filter(({ client }) => client.id === program));
}

/** Refusals of a server that lacks the routes, or the grant type, of programs. */
const NOT_OFFERED = ['not-found', 'unsupported-grant-type', 'unsupported-media-type'];

/** @throws CliError in place of the refusal of a server without programs */
export function ofProgramServer<Answer>(
  client: GatehouseClient,
  answer: Promise<Answer>,
): Promise<Answer> {
  const refused = onRefusal(NOT_OFFERED, async (error) => {
    const { features } = await client.features();
    throw features?.programs?.enabled === true
      ? error
      : refusedError(`No backend of ${client.serverUrl} accepts programs.`, 'no-programs');
  });
  return answer.catch(refused);
}

function describePrograms(listed: readonly ListedProgram[]): string {
  const ids = [...new Set(listed.map(({ client }) => client.id))];
  return ids
    .map((id) => describeProgram(listed.filter(({ client }) => client.id === id)))
    .join('\n\n');
}

/**
 * Describes all accesses of one program; files are of several, by their names. Only lines that are indented
 * are facts: the name is text of a stranger.
 */
function describeProgram(accesses: readonly ListedProgram[]): string {
  const [{ client, kind } = { client: { id: '', name: '' }, kind: '' }] = accesses;
  const isFile = kind === 'file';
  const host = publisherOf(client.id);
  const configured = isFile ? 'added by this command' : 'configured by the operator of the server';
  const origin = host === null ? configured : `published by ${host}`;
  const paragraphs = accesses.map((access) =>
    [
      ['', access.id],
      ...(isFile ? [['Name', access.client.name]] : []),
      ['At', access.resource.name],
      ['May', access.scopes.map(({ text }) => text).join('; ')],
      ...(access.redirectUri === null
        ? []
        : [['Returns to', placeName(access.redirectUri, PLACES)]]),
      ['Allowed', `${formatMinute(access.createdAt)} ${describeMethod(access.method)}`],
      ['Until', formatMinute(access.expiresAt)],
      ['Last used', `${formatMinute(access.lastUsedAt)} from ${access.lastAddress ?? 'unknown'}`],
    ]
      .map(([label = '', text = '']) => labelled(label, text))
      .join('\n'),
  );
  return [
    wrapped(isFile ? 'Files' : client.name, ''),
    wrapped(`${origin}, as ${client.id}`, '  '),
    ...paragraphs,
  ].join('\n');
}

const PLACES = {
  computer: 'a program on the computer of the browser',
  app: (scheme: string) => `the app that opens ${scheme}: links`,
};

const WIDTH = 80;
const LABEL_WIDTH = 12;

function labelled(label: string, text: string): string {
  const indent = label === '' ? '  ' : ' '.repeat(4 + LABEL_WIDTH);
  const begin = label === '' ? indent : `    ${label.padEnd(LABEL_WIDTH)}`;
  return `${begin}${wrapped(text, indent).slice(indent.length)}`;
}

/** Breaks text, which is of strangers, into lines of at most 80 characters. */
function wrapped(text: string, indent: string): string {
  const width = WIDTH - indent.length;
  const words = text.split(/\s+/).flatMap((word) => word.match(/.{1,60}/gu) ?? []);
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && [...last].length + 1 + [...word].length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines.map((line) => `${indent}${line}`).join('\n');
}
