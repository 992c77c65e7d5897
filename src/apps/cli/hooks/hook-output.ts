import { recordOf } from '../../../core/protocol/is-record.js';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import type { AnswerChoice } from '../../../core/protocol/request-answer.js';
import type { AnswerForm } from './hook-table.js';

/** The decision of a PermissionRequest hook, as Claude Code and Codex document it. */
interface HookDecision {
  readonly behavior: 'allow' | 'deny';
  /** Claude Code only: Codex refuses it. */
  readonly updatedInput?: object;
  readonly message?: string;
}

const DENIED = 'The user denied this from another device.';

/** Returns the line that a hook prints for an answer; null where the agent's own prompt decides. */
export function hookOutput(
  request: AgentRequest,
  choice: AnswerChoice,
  form: AnswerForm,
): string | null {
  switch (form) {
    case 'denial':
      return choice === 'deny'
        ? JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: DENIED })
        : null;
    case 'reply':
      // Never `always`: that would allow what the person has not seen.
      return JSON.stringify({ reply: choice === 'deny' ? 'reject' : 'once' });
    case 'decision':
    case 'decision-with-input': {
      const decision = decisionOf(request, choice, form === 'decision-with-input');
      const hookSpecificOutput = { hookEventName: 'PermissionRequest', decision };
      return JSON.stringify({ hookSpecificOutput });
    }
  }
}

function decisionOf(
  request: AgentRequest,
  choice: AnswerChoice,
  repeatsInput: boolean,
): HookDecision {
  if (choice === 'deny') {
    return { behavior: 'deny', message: DENIED };
  }
  const answers = choice === 'allow' ? {} : { answers: answersOf(request, choice) };
  // Claude Code discards an allowed plan or question without it (since 2.1.199).
  const updatedInput = { ...recordOf(request.tool?.input), ...answers };
  return { behavior: 'allow', ...(repeatsInput && { updatedInput }) };
}

function answersOf(
  { questions = [] }: AgentRequest,
  { answers }: Exclude<AnswerChoice, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    answers.map(({ id, options }) => {
      const asked = questions.find((one) => one.id === id);
      const labels = options.map(
        (one) => asked?.options.find((option) => option.id === one)?.label,
      );
      return [asked?.text ?? '', labels.join(', ')];
    }),
  );
}
