import { useEffect } from 'preact/hooks';
import type { Arrival } from './arrival.js';
import { FinishSignIn } from './finish-sign-in.js';
import { clientFor } from './server.js';
import type { Session } from './tab-memory.js';
import { done, failureInWords, problem, returnErrorInWords, type Notice } from './words.js';

interface ReturnedProps {
  readonly arrival: Extract<Arrival, { kind: 'returned' }>;
  readonly session: Session | null;
  readonly enter: (session: Session, notice?: Notice | null) => void;
  /** There is nothing to finish here (any more). */
  readonly goOn: (notice: Notice | null) => void;
  readonly tell: (notice: Notice | null) => void;
}

/** Finishes what was begun with a provider, or says why that cannot be. */
export function Returned({ arrival, session, enter, goOn, tell }: ReturnedProps) {
  const { provider, answer, begun } = arrival;
  const proof = begun?.proof ?? null;
  const isSignIn = answer.kind === 'known' || answer.kind === 'new';
  useEffect(() => {
    if (answer.kind === 'failed') {
      goOn(problem(returnErrorInWords(answer.error)));
    } else if (begun === null || (isSignIn && proof === null)) {
      // It may be of somebody else, who would like it to be finished here.
      goOn(problem('This was begun in another tab or browser. Begin it here once more.'));
    } else if (answer.kind === 'connect') {
      void link(provider, answer.pending, session).then(goOn);
    }
  }, []);
  return isSignIn && proof !== null ? (
    <FinishSignIn
      provider={provider}
      answer={answer}
      proof={proof}
      enter={enter}
      goOn={goOn}
      tell={tell}
    />
  ) : (
    <p class="quiet">One moment…</p>
  );
}

async function link(provider: string, pending: string, session: Session | null): Promise<Notice> {
  if (session === null) {
    return problem(`Sign in, then connect ${provider} once more.`);
  }
  try {
    await clientFor(session.token).connect.finish(provider, pending);
    return done(`${provider} is connected.`);
  } catch (error) {
    return problem(failureInWords(error));
  }
}
