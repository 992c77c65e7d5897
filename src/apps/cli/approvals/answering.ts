import {
  answerRequest,
  openRequest,
  openRequests,
  type OpenOptions,
  type ShownableRequest,
  type UnopenedRequest,
} from '../../../packages/client/approvals/answer-request.js';
import { onRefusal } from '../../../packages/client/api/problem.js';
import {
  showRequest,
  summaryOf,
  textOfRequest,
} from '../../../packages/client/approvals/show-request.js';
import { parseServerUrl } from '../../../packages/client/api/server-url.js';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import { fitsRequest, type AnswerChoice } from '../../../core/protocol/request-answer.js';
import { requireSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { refusedError, usageError } from '../cli-error.js';
import { oneById } from '../one-by-id.js';
import { formatMinute } from '../output.js';
import { requestAccess } from './account-keys.js';
import { resumeSessions } from './denial-streak.js';

type Context = CliContext<{ readonly server?: string; readonly text?: string }>;
type Found = ShownableRequest | UnopenedRequest;

interface Row {
  readonly id: string;
  readonly state: Found['kind'];
  readonly kind: AgentRequest['kind'] | null;
  readonly host: string | null;
  readonly cwd: string | null;
  readonly title: string | null;
  readonly summary: string;
  readonly expiresAt: number | null;
}

const FIELDS = ['id', 'state', 'kind', 'host', 'cwd', 'title', 'summary', 'expiresAt'] as const;

export async function list(context: Context): Promise<void> {
  const { current, options } = await prepare(context);
  const found = await offered(openRequests(current.client.requests, options));
  await context.output.list<Row>(
    {
      fields: FIELDS,
      columns: [
        ['ID', ({ id }) => id],
        ['FROM', ({ host }) => host],
        ['ASKS', ({ summary }) => summary],
        ['UNTIL', ({ expiresAt }) => (expiresAt === null ? null : formatMinute(expiresAt))],
      ],
      empty: 'Nothing waits for an answer.',
    },
    found.map(rowOf),
  );
}

export async function show(context: Context): Promise<void> {
  const { request } = await find(context);
  context.output.result(request, textOfRequest(showRequest(request), context.output.columns));
}

export async function answer(context: Context): Promise<void> {
  const found = await find(context);
  const { request } = found;
  const [, ...words] = context.args;
  const choice = choiceOf(words, context.options.text, request);
  if (!fitsRequest(choice, request)) {
    throw usageError('The request does not offer this answer.', `See: gatehouse requests show`);
  }
  const { whyNotAllowed } = showRequest(request);
  if (choice === 'allow' && whyNotAllowed !== null) {
    const reason =
      whyNotAllowed === 'too-long' ? 'This request is too long' : 'The agent takes a denial only';
    throw refusedError(`${reason}: allow it at the computer that asks.`, 'too-large');
  }
  const { current, options } = await prepare(context);
  await answerRequest(current.client.requests, options.requests, found, choice);
  const text = choice === 'deny' ? 'Denied.' : 'Answered.';
  const isSigned = options.requests !== null && found.isSealed;
  context.output.result({ id: request.requestId, choice, isSigned }, text);
}

export async function resume({ environment, output }: CliContext): Promise<void> {
  const resumed = await resumeSessions(environment);
  const text = resumed === 1 ? '1 session asks again.' : `${resumed} sessions ask again.`;
  output.result({ resumed }, resumed === 0 ? 'No session is paused.' : text);
}

async function find(context: Context): Promise<ShownableRequest> {
  const { current, options } = await prepare(context);
  const [begin = ''] = context.args;
  const open = await offered(current.client.requests.list());
  const one = oneById(open, begin, 'open request', 'gatehouse requests');
  const found = await openRequest(current.client.requests, one.id, options);
  if (found.kind === 'opened') {
    return found;
  }
  throw refusedError(describeUnopened(found), found.kind);
}

/** @throws CliError where the server has no list of requests */
function offered<Listed>(list: Promise<Listed>): Promise<Listed> {
  const refused = onRefusal(['not-found'], ({ code }) => {
    throw refusedError('The server takes no requests.', code);
  });
  return list.catch(refused);
}

async function prepare(context: Context) {
  const current = await requireSession(context);
  const { session, store } = current;
  const access = await requestAccess(current);
  const options: OpenOptions = {
    requests: access.kind === 'keyed' ? access.requests : null,
    // The active server, or one with a login: a saved one.
    isKnownServer: async (url) => {
      const server = parseServerUrl(url);
      const isActive = server === session.server;
      return isActive || (server !== null && (await store.session(server)) !== null);
    },
  };
  return { current, options };
}

function rowOf(found: Found): Row {
  if (found.kind !== 'opened') {
    const expiresAt = found.stored?.expiresAt ?? null;
    const none = { kind: null, host: null, cwd: null, title: null };
    return {
      id: found.id,
      state: found.kind,
      ...none,
      summary: describeUnopened(found),
      expiresAt,
    };
  }
  const { request, stored } = found;
  const { requestId: id, kind, host, cwd, session } = request;
  const summary = summaryOf(request);
  // The time of the server: the clock of the asking computer may be wrong.
  const { expiresAt } = stored;
  return { id, state: 'opened', kind, host, cwd, title: session.title, summary, expiresAt };
}

function describeUnopened({ kind, server, refusal }: UnopenedRequest): string {
  switch (kind) {
    case 'closed':
      return 'The request is no longer open.';
    case 'no-key':
      return 'Only a computer with the key of the account opens this: gatehouse key restore';
    case 'other-server':
      return `This request is of ${server ?? 'another server'}, where this computer is not signed in.`;
    case 'refused':
      return `This request does not open (${refusal ?? 'not-authentic'}): it is not of this account's key.`;
  }
}

/** Options by number or label, one question after the other. */
function choiceOf(
  words: readonly string[],
  text: string | undefined,
  request: AgentRequest,
): AnswerChoice {
  const [first] = words;
  if (words.length === 1 && (first === 'allow' || first === 'deny')) {
    return first;
  }
  const { questions = [] } = request;
  if (questions.length > 1 && words.length !== questions.length) {
    throw usageError(`Name one option for each of the ${questions.length} questions.`);
  }
  const answers = questions.map(({ id, options }, index) => {
    const named = questions.length > 1 ? words.slice(index, index + 1) : words;
    const chosen = named
      .filter((word) => word !== '-')
      .map((word) => {
        const labelled = options.find(({ label }) => label === word);
        const found = labelled ?? options.find((_option, at) => String(at + 1) === word);
        if (found === undefined) {
          throw usageError(`There is no option ${word}.`);
        }
        return found.id;
      });
    return { id, options: chosen, ...(text !== undefined && { text }) };
  });
  return { answers };
}
