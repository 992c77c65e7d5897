import { useEffect, useState } from 'preact/hooks';
import type { LoginAnswer } from '../../client/api/api-client-answers.js';
import type { OAuthReturn } from '../../client/api/oauth-return.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import type { DeviceKey } from '../../client/crypto/device-key.js';
import { returnErrorMessage } from '../../client/messages.js';
import { clientFor } from '../server.js';
import { done, failure, problem, type Notice, type Notify } from '../ui/notice.js';
import { KeyForm, NewKeyForm } from './key-forms.js';
import type { Arrival, Session } from './tab-state.js';

interface ReturnedProps {
  readonly startSession: (session: Session, notice?: Notice | null) => void;
  /** Shows the page without the answer: it was handled, or cannot be. */
  readonly close: Notify;
}

interface CertificateReturnedProps extends ReturnedProps {
  readonly arrival: Extract<Arrival, { kind: 'certificate' }>;
}

/** Claims the session of a sign-in with a certificate. */
export function CertificateReturned({ arrival, startSession, close }: CertificateReturnedProps) {
  const { code, error, proof } = arrival;
  useEffect(() => {
    if (code === null) {
      close(problem(returnErrorMessage(error)));
    } else {
      clientFor()
        .certificate.claim(code, proof)
        .then(startSession, (reason: unknown) => close(failure(reason)));
    }
  }, []);
  return <p class="quiet">One moment…</p>;
}

interface ProviderReturnedProps extends ReturnedProps {
  readonly arrival: Extract<Arrival, { kind: 'returned' }>;
  readonly session: Session | null;
  readonly notify: Notify;
}

/** Finishes what this tab started with a provider, or says why that is not possible. */
export function ProviderReturned({ arrival, session, ...props }: ProviderReturnedProps) {
  const { provider, answer, flow } = arrival;
  const proof = flow?.proof ?? null;
  const isSignIn = answer.kind === 'known' || answer.kind === 'new';
  useEffect(() => {
    if (answer.kind === 'failed') {
      props.close(problem(returnErrorMessage(answer.error)));
    } else if (flow === null || (isSignIn && proof === null)) {
      // An attacker may have started it, to have this person finish it (RFC 6749, 10.12).
      props.close(problem('This was started in another tab or browser. Start it again here.'));
    } else if (answer.kind === 'connect') {
      void link(provider, answer.pending, session).then(props.close);
    }
  }, []);
  return isSignIn && proof !== null ? (
    <FinishSignIn provider={provider} answer={answer} proof={proof} {...props} />
  ) : (
    <p class="quiet">One moment…</p>
  );
}

async function link(provider: string, pending: string, session: Session | null): Promise<Notice> {
  if (session === null) {
    return problem(`Sign in, then connect ${provider} again.`);
  }
  try {
    await clientFor(session.token).connect.finish(provider, pending);
    return done(`${provider} is connected.`);
  } catch (error) {
    return failure(error);
  }
}

type SignInAnswer = Extract<OAuthReturn, { kind: 'known' | 'new' }>;

/** What remains: nothing, a question, or that this provider makes no accounts here. */
type Step = 'without-key' | 'own-key' | 'new-key' | 'choice' | 'closed';

interface FinishProps extends ReturnedProps {
  readonly provider: string;
  readonly answer: SignInAnswer;
  readonly proof: string;
  readonly notify: Notify;
}

/** Asks what the server cannot know, and only that (specification, OAuth provisioning choice). */
function FinishSignIn(props: FinishProps) {
  const [step, setStep] = useState<Step>(() => firstStep(props.answer));
  useEffect(() => {
    if (step === 'closed') {
      props.close(
        problem('You have no account on this server, and this provider does not create accounts.'),
      );
    } else if (step === 'without-key') {
      void finishWithoutKey(props, () => setStep('own-key'));
    }
  }, [step]);
  if (step === 'closed' || step === 'without-key') {
    return <p class="quiet">One moment…</p>;
  }
  return step === 'choice' ? (
    <Choice choose={setStep} />
  ) : (
    <KeyStep {...props} isNew={step === 'new-key'} choose={setStep} />
  );
}

function firstStep(answer: SignInAnswer): Step {
  if (answer.kind === 'known') {
    return answer.accountMode === 'plain' ? 'without-key' : 'own-key';
  }
  const { provisioning } = answer;
  if (provisioning.kind === 'ask') {
    return 'choice';
  }
  if (provisioning.kind === 'none') {
    return 'closed';
  }
  return provisioning.mode === 'plain' ? 'without-key' : 'new-key';
}

async function finishWithoutKey(
  { provider, answer, proof, startSession, close }: FinishProps,
  askForKey: () => void,
): Promise<void> {
  try {
    const finish = { pending: answer.pending, proof };
    finished(await clientFor().external.finishKeyless(provider, finish), startSession);
  } catch (error) {
    if (error instanceof GatehouseProblem && error.code === 'restore-required') {
      askForKey();
    } else {
      close(failure(error));
    }
  }
}

function finished(
  { created, ...session }: LoginAnswer,
  startSession: ReturnedProps['startSession'],
): void {
  startSession(session, created ? done('Your account is ready.') : null);
}

interface KeyStepProps extends FinishProps {
  readonly isNew: boolean;
  readonly choose: (step: Step) => void;
}

function KeyStep({ provider, answer, proof, isNew, choose, ...props }: KeyStepProps) {
  const { notify, startSession, close } = props;
  const { external } = clientFor();
  const use = async (key: DeviceKey) => {
    const finish = { pending: answer.pending, proof, create: isNew };
    finished(await external.finish(provider, finish, key), startSession);
  };
  const cancel = () => {
    // The server ends an unfinished login by itself: this failure needs no notice.
    external.giveUp(provider, answer.pending).catch(() => undefined);
    close(null);
  };
  return (
    <section aria-labelledby="finish">
      <h2 id="finish">{isNew ? 'Create your account' : 'Enter your device key'}</h2>
      {!isNew && (
        <p>The provider identified you. The data of your account also needs its device key.</p>
      )}
      {isNew ? <NewKeyForm use={use} notify={notify} /> : <KeyForm use={use} notify={notify} />}
      {answer.kind === 'new' && (
        <button type="button" class="link" onClick={() => choose(isNew ? 'own-key' : 'new-key')}>
          {isNew ? 'I already have a device key' : 'I have no device key'}
        </button>
      )}
      <button type="button" class="link" onClick={cancel}>
        Cancel
      </button>
    </section>
  );
}

function Choice({ choose }: { choose: (step: Step) => void }) {
  return (
    <section aria-labelledby="choice">
      <h2 id="choice">Which kind of account?</h2>
      <button type="button" class="choice" onClick={() => choose('new-key')}>
        <strong>End-to-end encrypted</strong>
        <span>
          Only your devices can read your data. You keep a key; if you lose it, you lose the data.
        </span>
      </button>
      <button type="button" class="choice" onClick={() => choose('without-key')}>
        <strong>Not encrypted</strong>
        <span>
          The server can read your data. Signing in with the provider is enough on every device.
        </span>
      </button>
    </section>
  );
}
