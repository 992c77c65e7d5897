import { useEffect, useState } from 'preact/hooks';
import type { LoginAnswer } from '../client/api-client-answers.js';
import type { DeviceKey } from '../client/device-key.js';
import type { OAuthReturn } from '../client/oauth-return.js';
import { GatehouseProblem } from '../client/problem.js';
import { KeyForm } from './key-form.js';
import { NewKeyForm } from './new-key-form.js';
import { clientFor } from './server.js';
import type { Session } from './tab-memory.js';
import { done, failureInWords, problem, type Notice } from './words.js';

type SignInAnswer = Extract<OAuthReturn, { kind: 'known' | 'new' }>;

/** What is left: nothing, a question, or that this provider makes no accounts here. */
type Step = 'without-key' | 'own-key' | 'new-key' | 'choice' | 'closed';

interface FinishProps {
  readonly provider: string;
  readonly answer: SignInAnswer;
  readonly proof: string;
  readonly enter: (session: Session, notice?: Notice | null) => void;
  readonly goOn: (notice: Notice | null) => void;
  readonly tell: (notice: Notice | null) => void;
}

/** Asks what the server cannot know, and only that (specification, OAuth provisioning choice). */
export function FinishSignIn(props: FinishProps) {
  const [step, setStep] = useState<Step>(() => firstStep(props.answer));
  useEffect(() => {
    if (step === 'closed') {
      props.goOn(problem('No account belongs to you here, and this provider makes none.'));
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

async function finishWithoutKey(
  { provider, answer, proof, enter, goOn }: FinishProps,
  askForKey: () => void,
): Promise<void> {
  try {
    const finish = { pending: answer.pending, proof };
    welcome(await clientFor().external.finishKeyless(provider, finish), enter);
  } catch (error) {
    if (error instanceof GatehouseProblem && error.code === 'restore-required') {
      askForKey();
    } else {
      goOn(problem(failureInWords(error)));
    }
  }
}

function welcome({ created, ...session }: LoginAnswer, enter: FinishProps['enter']): void {
  enter(session, created ? done('Your account is ready.') : null);
}

interface KeyStepProps extends FinishProps {
  readonly isNew: boolean;
  readonly choose: (step: Step) => void;
}

function KeyStep({ provider, answer, proof, enter, goOn, tell, isNew, choose }: KeyStepProps) {
  const { external } = clientFor();
  const use = async (key: DeviceKey) =>
    welcome(await external.finish(provider, { pending: answer.pending, proof }, key), enter);
  const giveUp = () => {
    // A login that is left alone ends by itself: nobody has to hear that this failed.
    external.giveUp(provider, answer.pending).catch(() => undefined);
    goOn(null);
  };
  return (
    <section aria-labelledby="finish">
      <h2 id="finish">{isNew ? 'Create your account' : 'One thing more: your device key'}</h2>
      {isNew ? <NewKeyForm use={use} tell={tell} /> : <OwnKey use={use} tell={tell} />}
      {answer.kind === 'new' && (
        <button type="button" class="link" onClick={() => choose(isNew ? 'own-key' : 'new-key')}>
          {isNew ? 'I have a device key already' : 'I have no device key'}
        </button>
      )}
      <button type="button" class="link" onClick={giveUp}>
        Cancel
      </button>
    </section>
  );
}

function OwnKey({
  use,
  tell,
}: {
  use: (key: DeviceKey) => Promise<void>;
  tell: FinishProps['tell'];
}) {
  return (
    <>
      <p>The provider knows you. What your account keeps is opened by its key alone.</p>
      <KeyForm label="Sign in" use={use} tell={tell} />
    </>
  );
}

function Choice({ choose }: { choose: (step: Step) => void }) {
  return (
    <section aria-labelledby="choice">
      <h2 id="choice">Which kind of account?</h2>
      <button type="button" class="choice" onClick={() => choose('new-key')}>
        <strong>End-to-end encrypted</strong>
        <span>
          Only your devices can read what is stored. You keep a key; lose it, and it is gone.
        </span>
      </button>
      <button type="button" class="choice" onClick={() => choose('without-key')}>
        <strong>Not encrypted</strong>
        <span>
          The server can read what is stored. Signing in is all you need, on every device.
        </span>
      </button>
    </section>
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
