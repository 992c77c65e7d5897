import { useEffect, useState } from 'preact/hooks';
import { authChoices, type AuthChoices, type ProviderWayIn } from '../client/auth-choices.js';
import { makeLoginProof } from '../client/login-proof.js';
import { GatehouseProblem } from '../client/problem.js';
import { signInWithCertificate } from './certificate.js';
import { KeyForm } from './key-form.js';
import { NewKeyForm } from './new-key-form.js';
import { clientFor } from './server.js';
import { rememberBegun, type Session } from './tab-memory.js';
import { useAction, type Action } from './use-action.js';
import { Waiting } from './waiting.js';
import { done, failureInWords, problem, type Notice } from './words.js';

interface SignInProps {
  /** Whether the person just came: then the provider that is to be asked at once is. */
  readonly isFresh: boolean;
  readonly enter: (session: Session, notice?: Notice | null) => void;
  readonly tell: (notice: Notice | null) => void;
}

/** Every way in that the server has, and none it has not. */
export function SignIn({ isFresh, enter, tell }: SignInProps) {
  const [choices, setChoices] = useState<AuthChoices | null>(null);
  const action = useAction(tell);
  const load = async () => {
    try {
      const offered = authChoices(await clientFor().features());
      const isGone = isFresh && (await goToTheOne(offered, tell));
      // Until the browser has left there is nothing to choose.
      setChoices(isGone ? null : offered);
    } catch (error) {
      tell(problem(failureInWords(error)));
    }
  };
  useEffect(() => void load(), []);
  if (!isSecureContext) {
    return <p class="problem">Open this page over https: browsers make no keys elsewhere.</p>;
  }
  return choices === null ? (
    <Waiting again={load} tell={tell} />
  ) : (
    <Ways choices={choices} action={action} enter={enter} tell={tell} />
  );
}

/** Leaves for the provider that everybody is sent to at once, where there is one and it can be asked. */
async function goToTheOne(choices: AuthChoices, tell: SignInProps['tell']): Promise<boolean> {
  const direct = choices.providers.find(({ id }) => id === choices.autoRedirectProviderId);
  if (direct === undefined) {
    return false;
  }
  try {
    await goTo(direct);
    return true;
  } catch (error) {
    // There may be other ways in.
    tell(problem(failureInWords(error)));
    return false;
  }
}

interface WaysProps extends Pick<SignInProps, 'enter' | 'tell'> {
  readonly choices: AuthChoices;
  readonly action: Action;
}

function Ways({ choices, action: { isBusy, run }, enter, tell }: WaysProps) {
  const { deviceKey, certificate, providers } = choices;
  const hasCertificate = certificate.canLogIn || certificate.canSignUp;
  const hasNone = providers.length === 0 && !hasCertificate;
  return (
    <section aria-labelledby="ways">
      <h2 id="ways">Sign in</h2>
      {hasNone && !deviceKey.canLogIn && !deviceKey.canSignUp && (
        <p>This server lets nobody in at the moment. Ask whoever runs it.</p>
      )}
      {providers.map((way) => (
        <ProviderButton key={way.id} way={way} isBusy={isBusy} go={() => run(() => goTo(way))} />
      ))}
      {hasCertificate && (
        <button
          type="button"
          disabled={isBusy}
          onClick={() => run(() => signInWithCertificate(enter))}
        >
          Continue with the certificate of this device
        </button>
      )}
      {deviceKey.canLogIn && (
        <KeyWay isOpen={hasNone} canSignUp={deviceKey.canSignUp} enter={enter} tell={tell} />
      )}
      {deviceKey.canSignUp && <NewKeyWay enter={enter} tell={tell} />}
    </section>
  );
}

interface ProviderButtonProps {
  readonly way: ProviderWayIn;
  readonly isBusy: boolean;
  readonly go: () => void;
}

function ProviderButton({ way, isBusy, go }: ProviderButtonProps) {
  return (
    <button type="button" class="provider" disabled={isBusy} onClick={go}>
      {/^#[0-9a-f]{6}$/i.test(way.buttonColor ?? '') && <Swatch color={`${way.buttonColor}`} />}
      Continue with {way.displayName}
    </button>
  );
}

/** The colour of a provider, as a shape: a style of its own would be against the page's policy. */
function Swatch({ color }: { color: string }) {
  return (
    <svg viewBox="0 0 10 10" aria-hidden="true">
      <circle cx="5" cy="5" r="5" fill={color} />
    </svg>
  );
}

interface KeyWayProps extends Pick<SignInProps, 'enter' | 'tell'> {
  readonly isOpen: boolean;
  readonly canSignUp: boolean;
}

function KeyWay({ isOpen, canSignUp, enter, tell }: KeyWayProps) {
  return (
    <details open={isOpen}>
      <summary>Use a device key</summary>
      <KeyForm
        label="Sign in"
        tell={tell}
        use={async (key) => {
          try {
            enter(await clientFor().logIn(key), null);
          } catch (error) {
            if (!(error instanceof GatehouseProblem) || error.code !== 'not-found') {
              throw error;
            }
            tell(problem('No account here has this key.'));
          }
        }}
      />
      {!canSignUp && <p class="quiet">Only keys that have an account here get in.</p>}
    </details>
  );
}

function NewKeyWay({ enter, tell }: Pick<SignInProps, 'enter' | 'tell'>) {
  return (
    <details>
      <summary>Create an account</summary>
      <NewKeyForm
        tell={tell}
        use={async (key) => enter(await clientFor().signUp(key), done('Your account is ready.'))}
      />
    </details>
  );
}

/** Leaves for the provider; the proof stays in this tab. */
async function goTo({ id: provider, startMode: mode }: ProviderWayIn): Promise<void> {
  const { proof, proofHash } = await makeLoginProof();
  const address = await clientFor().external.start(provider, { mode, proofHash });
  rememberBegun({ provider, proof });
  location.assign(address);
}
