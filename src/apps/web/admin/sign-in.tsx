import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { serverUrl } from '../server.js';
import { Button } from '../ui/button.js';
import { submitting, TextField, textOf } from '../ui/fields.js';
import { Gate } from '../ui/gate.js';
import { Icon } from '../ui/icon.js';
import { failure, NoticeLine, problem, type Notice, useNotedAction } from '../ui/notice.js';
import { t } from '../i18n/messages.js';
import { clientWith, storeToken, loginProvider } from './session.js';
import { texts } from './i18n/texts.js';

interface SignInProps {
  /** The reason for the end of the last session. */
  readonly notice: Notice | null;
  /** Shows the console after a token was stored. */
  readonly showConsole: () => void;
}

/** A certificate needs no sign-in, because the browser has sent it already. */
export function SignIn({ notice, showConsole }: SignInProps) {
  const provider = loginProvider();
  return (
    <Gate>
      <section class="card" aria-labelledby="sign-in">
        <div class="lead">
          <h1 id="sign-in">{texts.signIn.title}</h1>
          <p class="quiet">{texts.signIn.lead}</p>
        </div>
        <NoticeLine notice={notice} />
        {provider !== '' && (
          <>
            <a class="button primary" href={`${serverUrl()}/admin/v1/login`}>
              <Icon name="person" />
              {t.signIn.continueWith(provider)}
            </a>
            <p class="divider">{t.signIn.or}</p>
          </>
        )}
        <TokenForm showConsole={showConsole} isFirst={provider === ''} />
      </section>
    </Gate>
  );
}

interface TokenFormProps extends Pick<SignInProps, 'showConsole'> {
  readonly isFirst: boolean;
}

function TokenForm({ showConsole, isFirst }: TokenFormProps) {
  const { notice, show, isBusy, run } = useNotedAction();
  const { signIn } = texts;
  const submit = submitting((values) =>
    run(async () => {
      const given = textOf(values, 'token');
      const refusal = await refusalOf(given);
      if (refusal !== null) {
        show(refusal);
        return;
      }
      storeToken(given);
      showConsole();
    }),
  );
  return (
    <form onSubmit={submit}>
      <TextField
        id="token"
        name="token"
        label={signIn.token}
        hint={signIn.tokenHint}
        type="password"
        notice={notice}
        isExact
        required
      />
      <Button
        type="submit"
        class={isFirst ? 'primary' : ''}
        disabled={isBusy}
        text={signIn.submit}
      />
    </form>
  );
}

/** Returns null for a valid token. */
async function refusalOf(token: string): Promise<Notice | null> {
  // A header cannot contain other characters.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return problem(() => texts.signIn.unknown);
  }
  try {
    await clientWith(token).me();
    return null;
  } catch (error) {
    const isUnknown = error instanceof GatehouseProblem && error.code === 'invalid-token';
    return isUnknown ? problem(() => texts.signIn.unknown) : failure(error);
  }
}
