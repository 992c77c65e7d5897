import { randomUUID } from 'node:crypto';
import type { Decision } from '../../../packages/client/approvals/judge-answers.js';
import { parseJson } from '../../../common/parse-json.js';
import type { AgentRequest, AskedQuestion } from '../../../core/protocol/agent-request.js';
import type { AnswerChoice } from '../../../core/protocol/request-answer.js';
import type { CliContext } from '../command.js';
import { usageError } from '../cli-error.js';
import { readInputFile, readStandardInput, decodeInput } from '../input.js';
import type { AskCommandOptions, PermissionOptions, QuestionOptions } from './ask.command.js';
import {
  ask,
  notesOnly,
  settle,
  type AskResult,
  type Question,
  type Unanswerable,
} from './asking.js';
import { describeWaiting } from './audience.js';
import { PAUSED_TEXT } from './denial-streak.js';
import { untilSignal } from './process-signals.js';

/** Exit codes of `gatehouse ask`; scripts may rely on them. */
const EXIT_ASK = { answered: 0, denied: 10, unanswered: 11, unanswerable: 12 } as const;

const DEFAULT_SECONDS = 600;

export async function askPermission(context: CliContext<PermissionOptions>): Promise<number> {
  const { tool = '', inputFile, command } = context.options;
  if ((inputFile === undefined) === (command === undefined)) {
    throw usageError('Name the input of the tool: --command or --input-file.');
  }
  const input = inputFile === undefined ? { command } : await inputIn(inputFile);
  return run(context, { kind: 'permission', tool: { name: tool, input } });
}

export async function askQuestion(context: CliContext<QuestionOptions>): Promise<number> {
  const { question = '', option = [], multiple, customAnswer } = context.options;
  if (option.length === 0 && customAnswer !== true) {
    throw usageError('Name the answers: --option, or --custom-answer.');
  }
  const options = option.map((text, index) => {
    const [label = '', ...rest] = text.split('=');
    return { id: String(index + 1), label, description: rest.join('=') };
  });
  const allows = { multiple: multiple === true, custom: customAnswer === true };
  const asked: AskedQuestion = { id: '1', text: question, options, ...allows };
  return run(context, { kind: 'user_action', questions: [asked] });
}

async function run(
  context: CliContext<AskCommandOptions>,
  asked: Pick<Question, 'kind' | 'tool' | 'questions'>,
): Promise<number> {
  const { session = randomUUID(), title = '', timeout = DEFAULT_SECONDS } = context.options;
  if (!/^[\x21-\x7e]{1,128}$/.test(session)) {
    throw usageError('--session must be 1 to 128 printable ASCII characters without spaces.');
  }
  const question = { ...asked, session: { id: session, title }, cwd: process.cwd() };
  const noted = { ...context, output: notesOnly() };
  return untilSignal(async (signal) => {
    const result = await ask(noted, question, {
      timeoutMs: timeout * 1000,
      signal,
      subject: session,
      asksForDenial: false,
      onWaiting: (audience, request) => context.output.note(describeWaiting(audience, request)),
    });
    const exitCode = print(context, result);
    await settle(noted, result);
    // A signal after the answer does not change what was printed.
    return signal.aborted && result.kind !== 'answered' ? null : exitCode;
  });
}

function print({ output }: CliContext, result: AskResult): number {
  switch (result.kind) {
    case 'answered':
      return printDecision({ output }, result.request, result.decision);
    case 'expired':
    case 'withdrawn':
      output.note(result.kind === 'expired' ? 'No answer in time.' : 'The request was withdrawn.');
      return EXIT_ASK.unanswered;
    case 'unanswerable':
      output.note(describeUnanswerable(result.why));
      return EXIT_ASK.unanswerable;
  }
}

function printDecision(
  { output }: Pick<CliContext, 'output'>,
  request: AgentRequest,
  { choice, isSigned, session, sessionName, decidedAt }: Decision,
): number {
  if (!isSigned) {
    output.note(describeUnsigned({ session, sessionName }));
  }
  const lines = typeof choice === 'string' ? [choice] : chosenLines(request, choice);
  const answers = typeof choice === 'string' ? {} : { answers: lines };
  const value = { choice: typeof choice === 'string' ? choice : 'answer', ...answers };
  output.result({ ...value, isSigned, session, decidedAt }, lines.join('\n'));
  return choice === 'deny' ? EXIT_ASK.denied : EXIT_ASK.answered;
}

/** Returns the label of each chosen option, and the person's own text. */
function chosenLines(
  { questions = [] }: AgentRequest,
  { answers }: Exclude<AnswerChoice, string>,
): readonly string[] {
  return answers.flatMap(({ id, options, text }) => {
    const known = questions.find((one) => one.id === id)?.options ?? [];
    const labels = options.map((one) => known.find((option) => option.id === one)?.label ?? one);
    return text === undefined ? labels : [...labels, text];
  });
}

export function describeUnsigned({
  session,
  sessionName,
}: Pick<Decision, 'session' | 'sessionName'>) {
  const named = sessionName === null || sessionName === undefined ? '' : ` (${sessionName})`;
  return `Denied without the key of the account, by session ${session ?? 'unknown'}${named}: any of its sessions can do that.`;
}

export function describeUnanswerable(why: Unanswerable): string {
  switch (why) {
    case 'no-key':
      return 'This computer has no key of the account, so answers cannot be checked. Bring it here: gatehouse key restore';
    case 'plain':
      return 'This account has no end-to-end encryption, so its server could forge an answer. Answer at the computer.';
    case 'too-large':
      return 'The request is too long to be judged on another device. Answer at the computer.';
    case 'no-target':
      return 'No device and no webhook of the account would be notified, and no page is open. Answer at the computer.';
    case 'clock':
      return 'The clock of this computer is slow: the server sees the request as expired. Set it, or answer at the computer.';
    case 'too-many':
      return 'Too many requests wait for an answer already, which a stolen session could have asked. Answer at the computer, and look at: gatehouse requests';
    case 'paused':
      return PAUSED_TEXT;
    case 'not-supported':
      return 'The server takes no requests of this account. Answer at the computer.';
  }
}

async function inputIn(path: string): Promise<unknown> {
  const bytes = path === '-' ? await readStandardInput() : await readInputFile(path);
  const input = parseJson(decodeInput(bytes));
  if (input === undefined) {
    throw usageError('The input of the tool is no JSON.');
  }
  return input;
}
