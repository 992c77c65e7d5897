import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { authChoices, type AuthChoices } from '../../client/api/auth-choices.js';
import { brand } from '../brand.js';
import { clientFor } from '../server.js';
import { lazyPart } from '../ui/lazy-part.js';
import {
  done,
  failure,
  Loading,
  NoticeLine,
  problem,
  useAction,
  type Notice,
  type Notify,
} from '../ui/notice.js';
import { words } from '../words/words.js';
import type { CodeSignInProps } from './code-sign-in.js';
import { KeyForm, NewKeyForm } from './key-forms.js';
import { canSignUp, MethodList } from './method-list.js';
import { redirectTo } from './start-sign-in.js';
import type { Session } from './tab-state.js';

const CodeSignIn = lazyPart<CodeSignInProps>(async () => {
  // With the QR code in a file of its own: few people need it.
  return (await import('./code-sign-in.js')).CodeSignIn;
});

export interface SignInProps {
  /** Whether the page was just opened: then the automatic redirect applies. */
  readonly isFresh: boolean;
  /** The code of an invitation whose link was opened: shows the sign-up. null = none was. */
  readonly invitation: string | null;
  readonly startSession: (session: Session, notice?: Notice | null) => void;
  readonly notify: Notify;
}

/** The sign-in and sign-up methods that the server offers. */
export function SignIn({ isFresh, invitation, startSession, notify }: SignInProps) {
  const [choices, setChoices] = useState<AuthChoices | null>(null);
  const load = async () => {
    try {
      const offered = authChoices(await clientFor().features());
      const isRedirected = isFresh && (await redirectIfConfigured(offered, notify));
      // Until the browser has left the page there is nothing to choose.
      setChoices(isRedirected ? null : offered);
    } catch (error) {
      notify(failure(error));
    }
  };
  useEffect(() => void load(), []);
  if (!isSecureContext) {
    return <p class="problem">{words.signIn.insecure}</p>;
  }
  return choices === null ? (
    <Loading retry={load} notify={notify} />
  ) : (
    <Steps choices={choices} invitation={invitation} startSession={startSession} notify={notify} />
  );
}

/** Redirects to the provider of `autoRedirect`, where one is configured and available. */
async function redirectIfConfigured(choices: AuthChoices, notify: Notify): Promise<boolean> {
  const direct = choices.providers.find(({ id }) => id === choices.autoRedirectProviderId);
  if (direct === undefined) {
    return false;
  }
  try {
    await redirectTo(direct);
    return true;
  } catch (error) {
    // Other methods may be available.
    notify(failure(error));
    return false;
  }
}

/** The list of methods, or the one that was chosen of those that need a form. */
export type Step = 'methods' | 'key' | 'new-key' | 'code';

interface StepsProps extends Omit<SignInProps, 'isFresh'> {
  readonly choices: AuthChoices;
}

function Steps({ choices, invitation, startSession, notify }: StepsProps) {
  const isInvitable = canSignUp(choices);
  const [step, setStep] = useState<Step>(
    invitation !== null && isInvitable ? 'new-key' : 'methods',
  );
  const [notice, show] = useState<Notice | null>(null);
  const action = useAction(show);
  const keyForm = <KeyForm use={async (key) => startSession(await clientFor().logIn(key))} />;
  const isRefused = invitation !== null && !isInvitable;
  useEffect(() => void (isRefused && notify(problem(words.signIn.noInvitations))), []);
  const go = (next: Step) => {
    notify(null);
    show(null);
    setStep(next);
  };
  const back = (last: Notice | null = null) => {
    go('methods');
    notify(last);
  };
  if (step === 'code') {
    return <CodeSignIn startSession={startSession} close={back} />;
  }
  if (step === 'new-key') {
    return <NewAccount {...{ choices, invitation, startSession }} back={() => back()} />;
  }
  if (step === 'key') {
    return (
      <Card title={words.signIn.keyTitle} back={() => back()}>
        <p class="quiet">{words.signIn.keyLead}</p>
        {keyForm}
      </Card>
    );
  }
  return (
    <Card title={words.signIn.title(brand.name)}>
      <MethodList {...{ choices, action, startSession, keyForm, go }} />
      <NoticeLine notice={notice} />
    </Card>
  );
}

interface NewAccountProps extends Pick<StepsProps, 'choices' | 'invitation' | 'startSession'> {
  readonly back: () => void;
}

function NewAccount({ choices, invitation: given, startSession, back }: NewAccountProps) {
  return (
    <Card title={words.newKey.title} back={back}>
      <NewKeyForm
        needsInvitation={!choices.deviceKey.canSignUp}
        givenInvitation={given ?? ''}
        use={async (key, invitation) => {
          const session = await clientFor().signUp(key, invitation === null ? {} : { invitation });
          startSession(session, done(words.newKey.ready));
        }}
      />
    </Card>
  );
}

interface CardProps {
  readonly title: string;
  /** Shows the step before; null = this is the first. */
  readonly back?: () => void;
  readonly children: ComponentChildren;
}

/** One step of the sign-in. */
function Card({ title, back, children }: CardProps) {
  return (
    <section aria-labelledby="step">
      <h1 id="step">{title}</h1>
      {children}
      {back !== undefined && (
        <button type="button" class="link" onClick={back}>
          {words.back}
        </button>
      )}
    </section>
  );
}
