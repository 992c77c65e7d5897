import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  authChoices,
  type AuthChoices,
  type ProviderChoice,
} from '../../../packages/client/api/auth-choices.js';
import type { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { brand } from '../brand.js';
import { clientFor } from '../server.js';
import { Button } from '../ui/button.js';
import { Check } from '../ui/fields.js';
import { lazyPart } from '../ui/lazy-part.js';
import { useFocus } from '../ui/use-focus.js';
import { useReload } from '../ui/use-reload.js';
import {
  done,
  failure,
  Loading,
  NoticeLine,
  problem,
  useAction,
  type Notice,
  type NoticeUpdate,
  type Notify,
  type Action,
} from '../ui/notice.js';
import { t } from '../i18n/messages.js';
import { sessionWithKey } from './key-memory.js';
import { chooseStaying, isStaying, type Session } from './tab-state.js';
import { Icon, type IconName } from '../ui/icon.js';

/** Loaded on demand with the QR code, because few people need it. */
const CodeSignIn = lazyPart(() => import('./code-sign-in.js'), 'CodeSignIn');

const keyForms = () => import('./key-forms.js');

const KeyForm = lazyPart(keyForms, 'KeyForm');

const NewKeyForm = lazyPart(keyForms, 'NewKeyForm');

/** Loaded by the click. */
const startSignIn = () => import('./start-sign-in.js');

export interface SignInProps {
  /** True after the page was opened: only then the automatic redirect applies. */
  readonly isFresh: boolean;
  /** Code of an opened invitation link, which shows the sign-up; null = none. */
  readonly invitation: string | null;
  /** Stands next to the providers. */
  readonly providerNote?: ComponentChildren;
  readonly startSession: (session: Session, notice?: Notice | null) => void;
  readonly notify: NoticeUpdate;
}

export function SignIn({ isFresh, ...props }: SignInProps) {
  const { notify } = props;
  const [choices, setChoices] = useState<AuthChoices | null>(null);
  // Apart from the notice of the page, which says for example how the last session ended.
  const [failed, showFailed] = useState<Notice | null>(null);
  const load = async () => {
    const offered = authChoices(await clientFor().features());
    const isRedirected = isFresh && (await redirectIfConfigured(offered, notify));
    if (offered.providers.length === 0) {
      // A form that appears later moves the buttons below it away from a click. The part reports a failure.
      await KeyForm.prepare().catch(() => undefined);
    }
    // The browser is leaving the page, so no choices are shown.
    setChoices(isRedirected ? null : offered);
  };
  const reload = useReload(load, { notify: showFailed });
  useEffect(reload, []);
  if (!isSecureContext) {
    return <p class="problem">{t.signIn.insecure}</p>;
  }
  return choices === null ? (
    <>
      <NoticeLine notice={failed} />
      <Loading retry={reload} notify={showFailed} />
    </>
  ) : (
    <Steps choices={choices} {...props} />
  );
}

/** Redirects to the provider of `autoRedirect`, if it is configured and available. */
async function redirectIfConfigured(choices: AuthChoices, notify: Notify): Promise<boolean> {
  const direct = choices.providers.find(({ id }) => id === choices.autoRedirectProviderId);
  if (direct === undefined) {
    return false;
  }
  try {
    await (await startSignIn()).redirectTo(direct);
    return true;
  } catch (error) {
    // Other methods may be available.
    notify(failure(error));
    return false;
  }
}

/** The list of methods, or a chosen method that needs a form. */
export type Step = 'methods' | 'key' | 'new-key' | 'code';

interface StepsProps extends Omit<SignInProps, 'isFresh'> {
  readonly choices: AuthChoices;
}

function Steps({ choices, invitation, providerNote, startSession, notify }: StepsProps) {
  const isInvitable = canSignUp(choices);
  const [step, setStep] = useState<Step>(
    invitation !== null && isInvitable ? 'new-key' : 'methods',
  );
  const [notice, show] = useState<Notice | null>(null);
  const action = useAction(show);
  const keyForm = <KeySignIn {...{ choices, startSession }} />;
  const isRefused = invitation !== null && !isInvitable;
  useEffect(() => void (isRefused && notify(problem(() => t.signIn.noInvitations))), []);
  const go = (next: Step) => {
    notify(null);
    show(null);
    setStep(next);
  };
  useHistoryEntry(step !== 'methods', () => go('methods'));
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
      <Card key={step} title={t.signIn.keyTitle} back={() => back()}>
        <p class="quiet">{t.signIn.keyLead}</p>
        {keyForm}
      </Card>
    );
  }
  return (
    <Card key={step} title={t.signIn.title(brand.name)}>
      <MethodList {...{ choices, action, notice, providerNote, startSession, keyForm, go }} />
    </Card>
  );
}

/** Makes the Back button of the browser lead to the first step, and not away from a new key. */
function useHistoryEntry(isLaterStep: boolean, back: () => void): void {
  useEffect(() => {
    if (!isLaterStep) {
      return undefined;
    }
    history.pushState(null, '');
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, [isLaterStep]);
}

function KeySignIn({ choices, startSession }: Pick<StepsProps, 'choices' | 'startSession'>) {
  const create = async (key: DeviceKey) =>
    startSession(
      sessionWithKey(await clientFor().signUp(key), key),
      done(() => t.newKey.ready),
    );
  return (
    <KeyForm
      isScanned
      create={choices.deviceKey.canSignUp ? create : undefined}
      use={async (key) => startSession(sessionWithKey(await clientFor().logIn(key), key))}
    >
      <StayChoice />
    </KeyForm>
  );
}

interface NewAccountProps extends Pick<StepsProps, 'choices' | 'invitation' | 'startSession'> {
  readonly back: () => void;
}

function NewAccount({ choices, invitation: given, startSession, back }: NewAccountProps) {
  return (
    <Card title={t.newKey.title} back={back}>
      <NewKeyForm
        needsInvitation={!choices.deviceKey.canSignUp}
        givenInvitation={given ?? ''}
        use={async (key, invitation) => {
          const session = await clientFor().signUp(key, invitation === null ? {} : { invitation });
          startSession(
            sessionWithKey(session, key, false),
            done(() => t.newKey.ready),
          );
        }}
      >
        <StayChoice isBrief />
      </NewKeyForm>
    </Card>
  );
}

interface CardProps {
  readonly title: string;
  /** Shows the previous step; null = this is the first. */
  readonly back?: () => void;
  readonly children: ComponentChildren;
}

function Card({ title, back, children }: CardProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useFocus(heading);
  return (
    <section aria-labelledby="step">
      <h1 id="step" ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
      {back !== undefined && <Button class="link" onClick={back} text={t.back} />}
    </section>
  );
}

interface MethodListProps extends Pick<SignInProps, 'startSession' | 'providerNote'> {
  readonly choices: AuthChoices;
  readonly action: Action;
  readonly notice: Notice | null;
  /** Shown directly if it is the only method, else behind a button. */
  readonly keyForm: ComponentChildren;
  readonly go: (step: Step) => void;
}

function canSignUp({ deviceKey }: AuthChoices): boolean {
  return deviceKey.canSignUp || deviceKey.canSignUpInvited;
}

/** The first method is the primary one. */
function MethodList(props: MethodListProps) {
  const { choices, notice, providerNote, keyForm, go } = props;
  const { deviceKey } = choices;
  const isSignUpOffered = canSignUp(choices);
  const { signIn } = t;
  const [first, ...others] = redirections(props);
  const isKeyFirst = first === undefined && deviceKey.canLogIn;
  if (first === undefined && !deviceKey.canLogIn && !isSignUpOffered) {
    return <p>{signIn.none}</p>;
  }
  return (
    <>
      {choices.providers.length > 0 && providerNote}
      {first !== undefined && <MethodButton {...first} isFirst />}
      {isKeyFirst && <p class="quiet">{signIn.keyLead}</p>}
      {isKeyFirst && keyForm}
      {isKeyFirst && !isSignUpOffered && <p class="hint">{signIn.keysOnly}</p>}
      {(first !== undefined || isKeyFirst) && <p class="divider">{signIn.or}</p>}
      <div class="stack">
        {others.map((one) => (
          <MethodButton key={one.label} {...one} />
        ))}
        {deviceKey.canLogIn && !isKeyFirst && (
          <Button onClick={() => go('key')} icon="key" text={signIn.key} />
        )}
        <Button onClick={() => go('code')} icon="phone" text={signIn.otherDevice} />
      </div>
      <NoticeLine notice={notice} />
      {!isKeyFirst && <StayChoice />}
      {isSignUpOffered && <SignUp go={go} />}
    </>
  );
}

/** Applies to every method, so each form shows it: briefly where a new key has to be read. */
function StayChoice({ isBrief = false }: { readonly isBrief?: boolean }) {
  return (
    <Check
      label={t.signIn.stay}
      hint={isBrief ? undefined : t.signIn.stayHint}
      defaultChecked={isStaying()}
      set={chooseStaying}
    />
  );
}

function SignUp({ go }: Pick<MethodListProps, 'go'>) {
  return (
    <div class="stack foot">
      <p>{t.signIn.noAccountYet}</p>
      <Button onClick={() => go('new-key')} text={t.signIn.create} />
    </div>
  );
}

interface MethodButtonProps {
  readonly label: string;
  readonly icon: ComponentChildren;
  readonly isBusy: boolean;
  readonly go: () => void;
  readonly isFirst?: boolean;
}

/** Methods that start with one click: the providers in the server's order, then certificates. */
function redirections({ choices, action, startSession }: MethodListProps): MethodButtonProps[] {
  const { isBusy, run } = action;
  const { certificate, providers } = choices;
  const ofProviders = providers.map((way) => ({
    label: t.signIn.continueWith(way.displayName),
    icon: <ProviderIcon way={way} />,
    isBusy,
    go: () => run(async () => (await startSignIn()).redirectTo(way)),
  }));
  const ofCertificate = {
    label: t.signIn.certificate,
    icon: <Icon name="certificate" />,
    isBusy,
    go: () => run(async () => (await startSignIn()).signInWithCertificate(startSession)),
  };
  return certificate.canLogIn || certificate.canSignUp
    ? [...ofProviders, ofCertificate]
    : ofProviders;
}

function MethodButton({ label, icon, isBusy, go, isFirst = false }: MethodButtonProps) {
  return (
    <button
      type="button"
      class={isFirst ? 'provider primary' : 'provider'}
      disabled={isBusy}
      onClick={go}
    >
      {icon}
      {label}
    </button>
  );
}

/** Own icons for kinds of providers, because their logos are trademarks. */
const ICONS: Readonly<Record<string, IconName>> = {
  github: 'branch',
  gitlab: 'branch',
  gitea: 'branch',
};

function ProviderIcon({ way: { iconHint, buttonColor } }: { readonly way: ProviderChoice }) {
  if (/^#[0-9a-f]{6}$/i.test(buttonColor ?? '')) {
    // An SVG shape, because the page's Content-Security-Policy forbids inline styles.
    return (
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="10" cy="10" r="9" fill={`${buttonColor}`} stroke="#fff" stroke-width="2" />
      </svg>
    );
  }
  return <Icon name={ICONS[iconHint ?? ''] ?? 'person'} />;
}
