import { useEffect, useState } from 'preact/hooks';
import {
  authChoices,
  type AuthChoices,
  type ProviderChoice,
} from '../../client/api/auth-choices.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import { makeLoginProof } from '../../client/crypto/login-proof.js';
import { clientFor } from '../server.js';
import {
  done,
  failure,
  Loading,
  useAction,
  type Action,
  type Notice,
  type Notify,
} from '../ui/notice.js';
import type { CodeSignIn } from './code-sign-in.js';
import { KeyForm, NewKeyForm } from './key-forms.js';
import { CERTIFICATE, savePendingFlow, type Session } from './tab-state.js';

interface SignInProps {
  /** Whether the page was just opened: then the automatic redirect applies. */
  readonly isFresh: boolean;
  readonly startSession: (session: Session, notice?: Notice | null) => void;
  readonly notify: Notify;
}

/** The sign-in and sign-up methods that the server offers. */
export function SignIn({ isFresh, startSession, notify }: SignInProps) {
  const [choices, setChoices] = useState<AuthChoices | null>(null);
  const action = useAction(notify);
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
    return (
      <p class="problem">Open this page over https: browsers refuse to create keys without it.</p>
    );
  }
  return choices === null ? (
    <Loading retry={load} notify={notify} />
  ) : (
    <Methods choices={choices} action={action} startSession={startSession} notify={notify} />
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

interface MethodsProps extends Pick<SignInProps, 'startSession' | 'notify'> {
  readonly choices: AuthChoices;
  readonly action: Action;
}

function Methods(props: MethodsProps) {
  const [ByCode, setByCode] = useState<typeof CodeSignIn | null>(null);
  const { action, startSession, notify } = props;
  const load = async () => {
    // With the QR code in a file of its own: few people need it.
    const { CodeSignIn: loaded } = await import('./code-sign-in.js');
    setByCode(() => loaded);
  };
  const close = (last: Notice | null) => {
    setByCode(null);
    notify(last);
  };
  return ByCode === null ? (
    <>
      <MethodList {...props} />
      <button type="button" class="link" disabled={action.isBusy} onClick={() => action.run(load)}>
        Use another device
      </button>
    </>
  ) : (
    <ByCode startSession={startSession} close={close} />
  );
}

function MethodList({ choices, action, startSession, notify }: MethodsProps) {
  const { deviceKey, certificate, providers } = choices;
  const { isBusy, run } = action;
  const hasCertificate = certificate.canLogIn || certificate.canSignUp;
  const hasNone = providers.length === 0 && !hasCertificate;
  return (
    <section aria-labelledby="methods">
      <h2 id="methods">Sign in</h2>
      {hasNone && !deviceKey.canLogIn && !deviceKey.canSignUp && (
        <p>No sign-in method is enabled on this server. Contact its operator.</p>
      )}
      {providers.map((way) => (
        <ProviderButton
          key={way.id}
          way={way}
          isBusy={isBusy}
          go={() => run(() => redirectTo(way))}
        />
      ))}
      {hasCertificate && (
        <button
          type="button"
          disabled={isBusy}
          onClick={() => run(() => signInWithCertificate(startSession))}
        >
          Continue with the certificate of this device
        </button>
      )}
      {deviceKey.canLogIn && (
        <KeyMethod
          isOpen={hasNone}
          canSignUp={deviceKey.canSignUp}
          startSession={startSession}
          notify={notify}
        />
      )}
      {deviceKey.canSignUp && <NewKeyMethod startSession={startSession} notify={notify} />}
    </section>
  );
}

interface ProviderButtonProps {
  readonly way: ProviderChoice;
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

/** A shape: the Content-Security-Policy of the page allows no inline style. */
function Swatch({ color }: { color: string }) {
  return (
    <svg viewBox="0 0 10 10" aria-hidden="true">
      <circle cx="5" cy="5" r="5" fill={color} />
    </svg>
  );
}

interface KeyMethodProps extends Pick<SignInProps, 'startSession' | 'notify'> {
  readonly isOpen: boolean;
  readonly canSignUp: boolean;
}

function KeyMethod({ isOpen, canSignUp, startSession, notify }: KeyMethodProps) {
  return (
    <details open={isOpen}>
      <summary>Use a device key</summary>
      <KeyForm
        notify={notify}
        use={async (key) => startSession(await clientFor().logIn(key), null)}
      />
      {!canSignUp && <p class="quiet">Only keys that already have an account can sign in.</p>}
    </details>
  );
}

function NewKeyMethod({ startSession, notify }: Pick<SignInProps, 'startSession' | 'notify'>) {
  return (
    <details>
      <summary>Create an account</summary>
      <NewKeyForm
        notify={notify}
        use={async (key) =>
          startSession(await clientFor().signUp(key), done('Your account is ready.'))
        }
      />
    </details>
  );
}

/** Redirects to the provider; the proof stays in this tab. */
async function redirectTo({ id: provider, startMode: mode }: ProviderChoice): Promise<void> {
  const { proof, proofHash } = await makeLoginProof();
  const address = await clientFor().external.start(provider, { mode, proofHash });
  savePendingFlow({ provider, proof });
  location.assign(address);
}

/**
 * Signs in with the certificate of this connection. Where it has none, redirects to the address that
 * asks browsers for one, if the server has such an address and accepts this return address.
 */
async function signInWithCertificate(startSession: SignInProps['startSession']): Promise<void> {
  const { certificate } = clientFor();
  try {
    startSession(await certificate.logIn());
  } catch (error) {
    const isNotAsked = error instanceof GatehouseProblem && error.code === 'mtls-required';
    const { proof, proofHash } = await makeLoginProof();
    const start = certificate.startUrl(document.baseURI, proofHash);
    if (!isNotAsked || !(await redirects(start))) {
      throw error;
    }
    savePendingFlow({ provider: CERTIFICATE, proof });
    location.assign(start);
  }
}

/** Asked first: the browser would show a refusal, which is JSON, in place of this page. */
async function redirects(address: string): Promise<boolean> {
  const { type } = await fetch(address, { redirect: 'manual' });
  return type === 'opaqueredirect';
}
