import { recordOf } from '../../../packages/client/is-record.js';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import type { AnswerChoice } from '../../../core/protocol/request-answer.js';

/** The decision of a PermissionRequest hook, as Claude Code and Codex document it. */
interface HookDecision {
  readonly behavior: 'allow' | 'deny';
  /** Claude Code only, and for answers to its questions only: Codex refuses it. */
  readonly updatedInput?: object;
  readonly message?: string;
}

/** Returns the line that a hook prints for an answer. */
export function hookOutput(request: AgentRequest, choice: AnswerChoice): string {
  const decision = decisionOf(request, choice);
  return JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
}

function decisionOf({ tool, questions = [] }: AgentRequest, choice: AnswerChoice): HookDecision {
  if (choice === 'deny') {
    return { behavior: 'deny', message: 'The user denied this from another device.' };
  }
  if (choice === 'allow') {
    return { behavior: 'allow' };
  }
  const answers = Object.fromEntries(
    choice.answers.map(({ id, options }) => {
      const asked = questions.find((one) => one.id === id);
      const labels = options.map(
        (one) => asked?.options.find((option) => option.id === one)?.label,
      );
      return [asked?.text ?? '', labels.join(', ')];
    }),
  );
  return { behavior: 'allow', updatedInput: { ...recordOf(tool?.input), answers } };
}
