import type { ComponentChildren } from 'preact';
import type { AuthChoices, ProviderChoice } from '../../client/api/auth-choices.js';
import { Icon, type IconName } from '../ui/icon.js';
import type { Action } from '../ui/notice.js';
import { words } from '../words/words.js';
import type { SignInProps, Step } from './sign-in.js';
import { redirectTo, signInWithCertificate } from './start-sign-in.js';

interface MethodListProps extends Pick<SignInProps, 'startSession'> {
  readonly choices: AuthChoices;
  readonly action: Action;
  /** Stands in the list where it is the only method, else behind a button. */
  readonly keyForm: ComponentChildren;
  readonly go: (step: Step) => void;
}

/** Whether a new device key can sign up, with an invitation or without. */
export function canSignUp({ deviceKey }: AuthChoices): boolean {
  return deviceKey.canSignUp || deviceKey.canSignUpInvited;
}

/** The first method stands out, the others follow below. */
export function MethodList(props: MethodListProps) {
  const { choices, keyForm, go } = props;
  const { deviceKey } = choices;
  const isSignUpOffered = canSignUp(choices);
  const { signIn } = words;
  const [first, ...others] = redirections(props);
  const isKeyFirst = first === undefined && deviceKey.canLogIn;
  if (first === undefined && !deviceKey.canLogIn && !isSignUpOffered) {
    return <p>{signIn.none}</p>;
  }
  return (
    <>
      {first !== undefined && <MethodButton {...first} isFirst />}
      {isKeyFirst && keyForm}
      {isKeyFirst && !isSignUpOffered && <p class="hint">{signIn.keysOnly}</p>}
      {(first !== undefined || isKeyFirst) && <p class="divider">{signIn.or}</p>}
      <div class="stack">
        {others.map((one) => (
          <MethodButton key={one.label} {...one} />
        ))}
        {deviceKey.canLogIn && !isKeyFirst && (
          <button type="button" onClick={() => go('key')}>
            <Icon name="key" />
            {signIn.key}
          </button>
        )}
        <button type="button" onClick={() => go('code')}>
          <Icon name="phone" />
          {signIn.otherDevice}
        </button>
      </div>
      {isSignUpOffered && <SignUp go={go} />}
    </>
  );
}

function SignUp({ go }: Pick<MethodListProps, 'go'>) {
  return (
    <p class="foot">
      {words.signIn.noAccountYet}{' '}
      <button type="button" class="link" onClick={() => go('new-key')}>
        {words.signIn.create}
      </button>
    </p>
  );
}

interface MethodButtonProps {
  readonly label: string;
  readonly icon: ComponentChildren;
  readonly isBusy: boolean;
  readonly go: () => void;
  readonly isFirst?: boolean;
}

/** The methods that one click begins: the providers in the server's order, then certificates. */
function redirections({ choices, action, startSession }: MethodListProps): MethodButtonProps[] {
  const { isBusy, run } = action;
  const { certificate, providers } = choices;
  const ofProviders = providers.map((way) => ({
    label: words.signIn.continueWith(way.displayName),
    icon: <ProviderIcon way={way} />,
    isBusy,
    go: () => run(() => redirectTo(way)),
  }));
  const ofCertificate = {
    label: words.signIn.certificate,
    icon: <Icon name="certificate" />,
    isBusy,
    go: () => run(() => signInWithCertificate(startSession)),
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

/** Shapes of this project for kinds of providers: their own logos are trademarks. */
const ICONS: Readonly<Record<string, IconName>> = {
  github: 'branch',
  gitlab: 'branch',
  gitea: 'branch',
};

function ProviderIcon({ way: { iconHint, buttonColor } }: { readonly way: ProviderChoice }) {
  if (/^#[0-9a-f]{6}$/i.test(buttonColor ?? '')) {
    // A shape: the Content-Security-Policy of the page allows no inline style.
    return (
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="10" cy="10" r="9" fill={`${buttonColor}`} stroke="#fff" stroke-width="2" />
      </svg>
    );
  }
  return <Icon name={ICONS[iconHint ?? ''] ?? 'person'} />;
}
