import { GatehouseProblem } from './problem.js';

/** The used part of the reader of a stream. */
interface AnswerReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

export type FetchAnswer = Pick<Response, 'ok' | 'status' | 'type' | 'text'> & {
  readonly headers: Pick<Headers, 'get'>;
  /** Absent where bodies are not streams, as in React Native: `text` is read then. */
  readonly body?: { getReader(): AnswerReader } | null;
};

/** More than any answer: a server stores bodies of up to 32 MiB (SERVICE_BODY_LIMIT_BYTES). */
export const MAX_ANSWER_BYTES = 64 * 1_048_576;

export function answerTooLarge(status: number): GatehouseProblem {
  const message = `The answer is larger than ${MAX_ANSWER_BYTES / 1_048_576} MiB.`;
  return new GatehouseProblem({ status, code: 'answer-too-large', message });
}

export async function readAnswerText(answer: FetchAnswer): Promise<string> {
  const reader = answer.body?.getReader();
  if (reader === undefined) {
    return answer.text();
  }
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) {
      return text + decoder.decode();
    }
    bytes += value.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      // Not awaited: a peer that never closes must not delay the refusal.
      void reader.cancel().catch(() => undefined);
      throw answerTooLarge(answer.status);
    }
    text += decoder.decode(value, { stream: true });
  }
}
