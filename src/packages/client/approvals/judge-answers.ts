import {
  isInTime,
  type AnswerChoice,
  type AnswerTime,
} from '../../../core/protocol/request-answer.js';
import type { AccountRequests, OpenedRequest, SealRefusal } from './account-requests.js';

/** An answer as the server lists it: sealed, or a session's denial without the key. */
export type ListedAnswer = AnswerSource & ({ readonly sealed: string } | { readonly deny: true });

/** The session that answered, as the server says. */
export interface AnswerSource {
  readonly session: string | null;
  /** The name that its owner gave the session. */
  readonly sessionName?: string | null;
}

export interface Decision extends AnswerSource {
  readonly choice: AnswerChoice;
  /** False for a denial without the key: a server or a stolen token can make one. */
  readonly isSigned: boolean;
  readonly decidedAt: number | null;
}

/** An answer that does not count. */
export interface RefusedAnswer {
  readonly session: string | null;
  readonly reason: SealRefusal | 'late';
}

export interface Judgement {
  /** null while no answer counts. */
  readonly decision: Decision | null;
  readonly refused: readonly RefusedAnswer[];
}

/** A server keeps five; more would only cost time. */
const MAX_JUDGED = 16;

/**
 * Judges what a server lists as the answers to a request: the first that opens, verifies and names the
 * request counts, then a denial without the key. Anything else changes nothing.
 *
 * @param requests null on an account without a key, where only denials count
 * @param time the clocks as they are after the answers were received
 */
export async function judgeAnswers(
  requests: AccountRequests | null,
  asked: OpenedRequest,
  listed: readonly ListedAnswer[],
  time: AnswerTime,
): Promise<Judgement> {
  const refused: RefusedAnswer[] = [];
  let denial: Decision | null = null;
  for (const one of listed.slice(0, MAX_JUDGED)) {
    const { session, sessionName = null } = one;
    if (!isInTime(asked.request, time)) {
      refused.push({ session, reason: 'late' });
      continue;
    }
    if ('deny' in one) {
      denial ??= { choice: 'deny', isSigned: false, session, sessionName, decidedAt: null };
      continue;
    }
    const answer =
      requests === null ? 'not-authentic' : await requests.openAnswer(asked, one.sealed);
    if (typeof answer !== 'string') {
      const { choice, decidedAt } = answer;
      return { decision: { choice, isSigned: true, session, sessionName, decidedAt }, refused };
    }
    refused.push({ session, reason: answer });
  }
  return { decision: denial, refused };
}
