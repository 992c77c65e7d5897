import { setTimeout as wait } from 'node:timers/promises';
import { recordOf } from '../../../core/protocol/is-record.js';
import { parseJson } from '../../../common/parse-json.js';
import { requireSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { EXIT, usageError } from '../cli-error.js';
import { readStandardInput, decodeInput } from '../input.js';
import { sendEvents } from '../notify/send-events.js';
import { describeUnanswerable, describeUnsigned } from '../approvals/ask.js';
import { ask, endAsked, notesOnly, settle, type AskResult } from '../approvals/asking.js';
import { AskedStore } from '../approvals/asked-store.js';
import { untilSignal } from '../approvals/process-signals.js';
import type { HookOptions } from './hook.command.js';
import { readHook, type HookQuestion } from './hook-input.js';
import { hookOutput } from './hook-output.js';
import { AGENTS, type AnswerForm } from './hook-table.js';
import { RepeatLog } from './repeat-log.js';
import { terminalIdleMs } from './terminal-idle.js';

type Context = CliContext<HookOptions>;

const IDLE_MS = 60_000;
const LOOK_EVERY_MS = 5_000;

/** Always resolves to 0; main.ts sees to the errors outside. A failure is a line on standard error. */
export async function hook(context: Context): Promise<number> {
  const output = notesOnly();
  try {
    await act({ ...context, output });
  } catch (error) {
    output.note(`gatehouse: ${error instanceof Error ? error.message : String(error)}`);
  }
  return EXIT.ok;
}

async function act(context: Context): Promise<void> {
  const [named = '', argument] = context.args;
  const agent = AGENTS.find((known) => known === named);
  if (agent === undefined) {
    throw usageError(`"${named}" is not an agent. Agents: ${AGENTS.join(', ')}.`);
  }
  // The old `notify` setting of Codex passes the event as an argument.
  const text = argument ?? decodeInput(await readStandardInput());
  const action = readHook(agent, recordOf(parseJson(text)));
  switch (action?.kind) {
    case 'event': {
      const options = { ...context.options, detach: true };
      await sendEvents({ ...context, options }, null, [action.event]);
      return;
    }
    case 'answered':
      return withdraw(context, action.subject);
    case 'question':
      return decide(context, action);
    case undefined:
      return;
  }
}

async function decide(context: Context, asked: HookQuestion): Promise<void> {
  const { answer, waitSeconds, isPromptOpen } = asked.asks;
  await new RepeatLog(context.environment).note(asked.question);
  await untilSignal(async (signal) => {
    const deadline = performance.now() + waitSeconds * 1000;
    if (!(await isAway(context, asked, deadline, signal))) {
      return EXIT.ok;
    }
    const result = await ask(context, asked.question, {
      timeoutMs: deadline - performance.now(),
      signal,
      subject: asked.subject,
      asksForDenial: isPromptOpen || answer === 'denial',
    });
    report(context, result, answer);
    await settle(context, result);
    return EXIT.ok;
  });
}

/** Waits until the person leaves the terminal, where the agent's prompt is open meanwhile. */
async function isAway(
  { options: { when = 'idle' } }: Context,
  { asks: { isPromptOpen } }: HookQuestion,
  deadline: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (when === 'always') {
    return true;
  }
  while (!signal.aborted && performance.now() < deadline) {
    const idleMs = await terminalIdleMs();
    if (idleMs === null || idleMs >= IDLE_MS) {
      return true;
    }
    if (!isPromptOpen) {
      return false;
    }
    await wait(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function report({ output }: Context, result: AskResult, form: AnswerForm): void {
  if (result.kind === 'unanswerable') {
    output.note(describeUnanswerable(result.why));
  }
  if (result.kind !== 'answered') {
    return;
  }
  const { decision, request } = result;
  if (!decision.isSigned) {
    output.note(describeUnsigned(decision));
  }
  const line = hookOutput(request, decision.choice, form);
  if (line !== null) {
    process.stdout.write(`${line}\n`);
  }
}

/** The request was answered at the computer: its asking hook ends, and its notifications go away. */
async function withdraw(context: Context, subject: string): Promise<void> {
  const store = new AskedStore(context.environment);
  const meant = (await store.open()).filter((record) => record.subject === subject);
  if (meant.length === 0) {
    return;
  }
  await endAsked(context, await requireSession(context), meant);
}
