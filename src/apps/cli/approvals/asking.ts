import { hostname } from 'node:os';
import {
  makeRequestId,
  type SealedRequest,
} from '../../../packages/client/approvals/account-requests.js';
import {
  askAndWait,
  closeRequest,
  type AskingServer,
  type AskOutcome,
  type AskStore,
} from '../../../packages/client/approvals/ask-and-wait.js';
import type { RefusedAnswer } from '../../../packages/client/approvals/judge-answers.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import {
  isAllowedRemotely,
  writeAgentRequest,
  type AgentRequest,
  type AskedQuestion,
} from '../../../core/protocol/agent-request.js';
import { digestOf } from '../../../core/protocol/request-answer.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import { Output } from '../output.js';
import { requestAccess, type RequestAccess } from './account-keys.js';
import { AskedStore, NOT_ASKED, type UnsettledRecord } from './asked-store.js';
import { audienceOf, type Audience } from './audience.js';
import { DenialStreak, PAUSED_AFTER, PAUSED_TEXT } from './denial-streak.js';
import { notifyOf, takeBack, type NoticeContext } from './notice.js';

/** The part of a request that its program names; {@link ask} adds the rest. */
export type Question = Pick<
  AgentRequest,
  'kind' | 'session' | 'cwd' | 'cwdOf' | 'denyOnly' | 'tool' | 'questions'
>;

/** The reason why a request cannot be answered from elsewhere. */
export type Unanswerable =
  | 'no-key'
  | 'plain'
  | 'too-large'
  | 'no-target'
  | 'not-supported'
  | 'too-many'
  | 'clock'
  | 'paused';

export type AskResult = (
  | AskOutcome
  | { readonly kind: 'unanswerable'; readonly why: Unanswerable }
) & {
  readonly request: AgentRequest;
};

interface AskSettings {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** {@link AskedRecord.subject}. */
  readonly subject: string;
  /** True if a request that can only be denied is asked as well: the caller's own prompt is open. */
  readonly asksForDenial: boolean;
  /** Called once the server has the request. */
  readonly onWaiting?: (audience: Audience, request: AgentRequest) => void;
}

/** A shorter request would have expired before anything reads it. */
const LEAST_MS = 1000;

/** Asks the person on their other devices. `context.output` gets notes only. */
export async function ask(
  context: NoticeContext,
  question: Question,
  settings: AskSettings,
): Promise<AskResult> {
  const current = await requireSession(context);
  const request = requestOf(question, current, settings.timeoutMs);
  const streak = new DenialStreak(context.environment, request);
  const startedAt = performance.now();
  if (
    (await streak.isPaused()) &&
    !(await isResumed(context, current, request, settings, streak))
  ) {
    return { kind: 'unanswerable', why: 'paused', request };
  }
  const timeoutMs = settings.timeoutMs - (performance.now() - startedAt);
  const result = await askOnce(context, current, question, { ...settings, timeoutMs });
  if (result.kind === 'answered') {
    await streak.note(result.decision.choice);
    if (await streak.isPaused()) {
      context.output.note(PAUSED_TEXT);
    }
  }
  return result;
}

/** Asks, once in a pause, whether the session may ask again. */
async function isResumed(
  context: NoticeContext,
  current: CurrentSession,
  { session, cwd }: AgentRequest,
  settings: AskSettings,
  streak: DenialStreak,
): Promise<boolean> {
  if (!(await streak.mayAskToResume())) {
    return false;
  }
  const question = { kind: 'user_action', session, cwd, questions: [RESUME] } as const;
  const result = await askOnce(context, current, question, { ...settings, asksForDenial: false });
  await settle(context, result);
  const choice = result.kind === 'answered' ? result.decision.choice : 'deny';
  const isMeant = typeof choice !== 'string' && choice.answers[0]?.options[0] === RESUMES;
  if (isMeant) {
    await streak.resume();
  }
  return isMeant;
}

const RESUMES = '1';
const RESUME: AskedQuestion = {
  id: '1',
  text: `You denied ${PAUSED_AFTER} requests of this session in a row. May it ask you again?`,
  options: [
    { id: RESUMES, label: 'Resume', description: 'The request that waits now is asked next.' },
    { id: '2', label: 'Stay paused', description: 'Requests are answered at the computer.' },
  ],
  multiple: false,
  custom: false,
};

async function askOnce(
  context: NoticeContext,
  current: CurrentSession,
  question: Question,
  settings: AskSettings,
): Promise<AskResult> {
  const abandoned = new AskedStore(context.environment).abandoned();
  const ended = abandoned.then((asked) => endAsked(context, current, asked));
  try {
    const access = await requestAccess(current);
    const request = requestOf(question, current, settings.timeoutMs);
    const asked = await sealed(access, request);
    const work = { context, current, access, request, settings };
    const why = whyUnanswerable(access, request, asked);
    if (asked === null || (why !== null && !(settings.asksForDenial && why !== 'no-key'))) {
      return await notifyOnly(work, why ?? 'too-large');
    }
    const audience = await audienceOf(context, current, request);
    if (audience === null) {
      return { kind: 'unanswerable', why: 'no-target', request };
    }
    return await waiting(work, asked, () => settings.onWaiting?.(audience, request));
  } finally {
    await ended;
  }
}

interface Work {
  readonly context: NoticeContext;
  readonly current: CurrentSession;
  readonly access: RequestAccess;
  readonly request: AgentRequest;
  readonly settings: AskSettings;
}

/** Notifies of a request that is answered at the computer, and keeps it until its tool ran. */
async function notifyOnly(work: Work, why: Unanswerable): Promise<AskResult> {
  const { context, request } = work;
  await storeOf(work).save({ request, digest: NOT_ASKED, sealed: '' });
  await notifyOf(context, request);
  return { kind: 'unanswerable', why, request };
}

/** Returns null for a refusal that no notification makes up for. */
function whyRefused(code: string): Unanswerable | null {
  switch (code) {
    // The server has no requests, or has none for this account.
    case 'not-found':
    case 'content-mode-mismatch':
    case 'encrypted-writes-disabled':
    case 'plaintext-writes-disabled':
      return 'not-supported';
    case 'too-many-open-requests':
      return 'too-many';
    case 'request-expired':
      return 'clock';
    default:
      return null;
  }
}

async function waiting(
  work: Work,
  asked: SealedRequest,
  onWaiting: () => void,
): Promise<AskResult> {
  const { context, access, request, settings } = work;
  const { signal } = settings;
  const { output } = context;
  const notified: Promise<void>[] = [];
  try {
    const keys = access.kind === 'keyed' ? access.requests : null;
    const outcome = await askAndWait(serverOf(work), keys, asked, {
      store: storeOf(work),
      signal,
      onAsked: () => {
        notified.push(notifyOf(context, request, asked.digest));
        onWaiting();
      },
      onRefused: (refused) => output.note(describeRefused(refused)),
      onUnreachable: ({ message }) => output.note(`${message} Waiting goes on.`),
    });
    return { ...outcome, request };
  } catch (error) {
    const why = error instanceof GatehouseProblem ? whyRefused(error.code) : null;
    if (why === null) {
      throw error;
    }
    return await notifyOnly(work, why);
  } finally {
    await Promise.all(notified);
  }
}

function serverOf({ current: { client }, access, settings }: Work): AskingServer {
  const routes = client.requests.withSignal(settings.signal);
  return {
    create: (one) => (access.kind === 'keyed' ? routes.create(one) : routes.createPlain(one)),
    wait: (id, seconds) => routes.wait(id, seconds),
    reject: (id, from) => routes.reject(id, from),
    // Without the signal: a withdrawal is sent after it.
    close: (id, from) => client.requests.close(id, from),
  };
}

function storeOf({ context, current, settings }: Work): AskStore {
  const { server, accountId } = current.session;
  const { subject } = settings;
  return new AskedStore(context.environment).for({ server, accountId, subject });
}

function requestOf(
  { kind, session, tool, cwd, questions, ...facts }: Question,
  current: CurrentSession,
  timeoutMs: number,
): AgentRequest {
  const askedAt = Date.now();
  return {
    v: 1,
    requestId: makeRequestId(),
    kind,
    server: current.session.server,
    account: current.session.accountId,
    session,
    ...(tool !== undefined && { tool }),
    cwd,
    host: hostname(),
    ...facts,
    ...(questions !== undefined && { questions }),
    askedAt,
    expiresAt: askedAt + Math.max(LEAST_MS, Math.floor(timeoutMs)),
  };
}

async function sealed(access: RequestAccess, request: AgentRequest): Promise<SealedRequest | null> {
  if (access.kind === 'keyed') {
    return access.requests.seal(request);
  }
  const bytes = access.kind === 'plain' ? writeAgentRequest(request) : null;
  return bytes === null ? null : { request, digest: digestOf(bytes), sealed: '' };
}

function whyUnanswerable(
  { kind }: RequestAccess,
  request: AgentRequest,
  asked: SealedRequest | null,
): Unanswerable | null {
  if (kind !== 'keyed') {
    return kind;
  }
  const isTooLong = request.kind === 'permission' && !isAllowedRemotely(request);
  return asked === null || isTooLong ? 'too-large' : null;
}

/** Takes the notifications of an ended request back, and forgets it where its server knows the end. */
export async function settle(context: NoticeContext, result: AskResult): Promise<void> {
  if (result.kind === 'unanswerable') {
    return;
  }
  const { requestId } = result.request;
  await takeBack(context, requestId);
  if (result.isClosed) {
    await new AskedStore(context.environment).settle(requestId);
  }
}

/** Ends requests for which no program waits, and reports their end to the server. */
export async function endAsked(
  context: NoticeContext,
  { session, client }: CurrentSession,
  asked: readonly UnsettledRecord[],
): Promise<void> {
  const store = new AskedStore(context.environment);
  for (const { requestId, server, accountId, takenFrom } of asked) {
    if (server === session.server && accountId === session.accountId) {
      await store.end(requestId, 'withdrawn');
      const isClosed = await closeRequest(client.requests, requestId, takenFrom);
      await takeBack(context, requestId);
      if (isClosed) {
        await store.settle(requestId);
      }
    }
  }
}

const REASONS: Readonly<Record<RefusedAnswer['reason'], string>> = {
  'not-authentic': 'it is not signed with the key of this account',
  'other-account': 'it is of another account',
  'other-form': 'its form is unknown',
  'other-request': 'it is of another request',
  'other-digest': 'it is of a request with another content',
  choice: 'the request does not offer this answer',
  'too-large': 'the request cannot be allowed from elsewhere',
  late: 'it came too late',
};

function describeRefused({ session, reason }: RefusedAnswer): string {
  return `An answer of session ${session ?? 'unknown'} does not count: ${REASONS[reason]}. Waiting goes on.`;
}

/** Writes notes, and results as well, to standard error. */
export function notesOnly(): Output {
  return new Output({ out: { write: () => undefined }, error: process.stderr }, false);
}
