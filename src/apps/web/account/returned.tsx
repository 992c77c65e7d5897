import { useEffect, useState } from 'preact/hooks';
import { Button } from '../ui/button.js';
import { lazyPart } from '../ui/lazy-part.js';
import type { ExternalFinish } from '../../../packages/client/api/login-routes.js';
import type { LoginAnswer } from '../../../packages/client/api/api-client-answers.js';
import type { OAuthReturn } from '../../../packages/client/api/oauth-return.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import type { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { clientFor } from '../server.js';
import { done, failure, personRefusal, problem, type Notice, type Notify } from '../ui/notice.js';
import { returnErrorMessage } from '../i18n/failure.js';
import { t } from '../i18n/messages.js';
import { KeyForm, NewKeyForm } from './key-forms.js';
import { sessionWithKey } from './key-memory.js';
import type { Arrival, Session } from './tab-state.js';

const CodeSignIn = lazyPart(() => import('./code-sign-in.js'), 'CodeSignIn');

interface FlowEnds {
  readonly startSession: (session: Session, notice?: Notice | null) => void;
  readonly close: Notify;
}

interface ReturnedProps<Kind extends Arrival['kind']> extends FlowEnds {
  readonly arrival: Extract<Arrival, { kind: Kind }>;
  readonly session: Session | null;
}

/** Finishes what a provider or a certificate was asked for. */
export function Returned({ arrival, ...props }: ReturnedProps<'certificate' | 'returned'>) {
  return arrival.kind === 'certificate' ? (
    <CertificateReturned arrival={arrival} {...props} />
  ) : (
    <ProviderReturned arrival={arrival} {...props} />
  );
}

function CertificateReturned({ arrival, session, ...props }: ReturnedProps<'certificate'>) {
  const { startSession, close } = props;
  const { code, flow } = arrival;
  useEffect(() => {
    const proof = flow.proof ?? '';
    if (code === null) {
      void returnProblem(flow.provider, arrival, true).then(close);
    } else if (flow.purpose === 'connect') {
      const claim = async (token: string) => clientFor(token).certificate.connect({ code, proof });
      const name = () => Promise.resolve(t.security.certificate);
      void link(name, session, claim).then(close);
    } else {
      clientFor()
        .certificate.claim(code, proof)
        .then(startSession, (reason: unknown) => close(failure(reason)));
    }
  }, []);
  return <p class="waiting">{t.moment}</p>;
}

function ProviderReturned({ arrival, session, ...props }: ReturnedProps<'returned'>) {
  const { provider, answer, flow } = arrival;
  const proof = flow?.proof ?? null;
  const isSignIn = answer.kind === 'known' || answer.kind === 'new';
  useEffect(() => {
    if (answer.kind === 'failed') {
      void returnProblem(provider, answer, flow !== null).then(props.close);
    } else if (flow === null || (isSignIn && proof === null)) {
      // An attacker may have started the flow, so that this person finishes it (RFC 6749, 10.12).
      props.close(problem(() => t.signIn.otherTab));
    } else if (answer.kind === 'connect') {
      const { pending } = answer;
      const finish = (token: string) => clientFor(token).connect.finish(provider, pending);
      void link(() => providerName(provider), session, finish).then(props.close);
    }
  }, []);
  return isSignIn && proof !== null ? (
    <FinishSignIn provider={provider} answer={answer} proof={proof} {...props} />
  ) : (
    <p class="waiting">{t.moment}</p>
  );
}

interface Refused {
  readonly error: string;
  readonly reason?: string | undefined;
  readonly accountId?: string | undefined;
}

/** @param isOwn false if this tab did not start the flow: anyone can write such an address */
async function returnProblem(
  provider: string,
  { error, reason, accountId }: Refused,
  isOwn: boolean,
): Promise<Notice> {
  if (!isOwn) {
    return { ...problem(() => returnErrorMessage(error)), refusal: returnRefusal(error) };
  }
  const text = await reasonText(provider, reason).catch(() => null);
  return {
    ...problem(text ?? (() => returnErrorMessage(error))),
    refusal: returnRefusal(error, accountId),
  };
}

/** Returns null for a reason without a text. */
async function reasonText(
  provider: string,
  reason: string | undefined,
): Promise<Notice['text'] | null> {
  const { isRefusalReason } = await import('../../../packages/client/refusal-reasons.js');
  if (!isRefusalReason(reason)) {
    return null;
  }
  const part = await import('../i18n/refused-messages.js');
  await part.loadRefusedMessages();
  const name = await providerName(provider).catch(() => provider);
  return () => part.refusedMessages.reasons[reason].replace('{provider}', () => name);
}

/** @param error the code of a refusal, with `_` in place of `-` */
function returnRefusal(error: string, accountId: string | null = null): Notice['refusal'] {
  return personRefusal(error.replaceAll('_', '-'), accountId);
}

async function providerName(id: string): Promise<string> {
  const { capabilities } = await clientFor().features();
  return capabilities.auth.providers?.[id]?.displayName ?? id;
}

/** @param finish receives the token of this tab */
async function link(
  nameOf: () => Promise<string>,
  session: Session | null,
  finish: (token: string) => Promise<void>,
): Promise<Notice> {
  try {
    const name = await nameOf();
    if (session === null) {
      return problem(() => t.security.connectSignIn(name));
    }
    await finish(session.token);
    return done(() => t.security.connected(name));
  } catch (error) {
    return failure(error);
  }
}

type SignInAnswer = Extract<OAuthReturn, { kind: 'known' | 'new' }>;

/** `closed` = this provider creates no accounts here. */
type Step = 'without-key' | 'own-key' | 'new-key' | 'choice' | 'closed';

interface FinishProps extends FlowEnds {
  readonly provider: string;
  readonly answer: SignInAnswer;
  readonly proof: string;
}

/** Asks only for facts that the server does not know (specification, OAuth provisioning choice). */
function FinishSignIn(props: FinishProps) {
  const [step, setStep] = useState<Step>(() => firstStep(props.answer));
  useEffect(() => {
    if (step === 'closed') {
      props.close(problem(() => t.signIn.closed));
    } else if (step === 'without-key') {
      void finishWithoutKey(props, () => setStep('own-key'));
    }
  }, [step]);
  if (step === 'closed' || step === 'without-key') {
    return <p class="waiting">{t.moment}</p>;
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
    const login = await clientFor().external.finishKeyless(provider, finish);
    finished(login, login, startSession);
  } catch (error) {
    if (error instanceof GatehouseProblem && error.code === 'restore-required') {
      askForKey();
    } else {
      close(failure(error));
    }
  }
}

function finished(
  login: LoginAnswer,
  session: Session,
  startSession: FlowEnds['startSession'],
): void {
  startSession(session, login.created ? done(() => t.newKey.ready) : null);
}

interface KeyStepProps extends FinishProps {
  readonly isNew: boolean;
  readonly choose: (step: Step) => void;
}

function KeyStep({ provider, answer, proof, isNew, choose, ...props }: KeyStepProps) {
  const { startSession, close } = props;
  const { newKey } = t;
  const { external } = clientFor();
  const finishWith = async (key: DeviceKey, create: boolean) => {
    const finish = { pending: answer.pending, proof, create };
    const login = await external.finish(provider, finish, key);
    finished(login, sessionWithKey(login, key, !isNew), startSession);
  };
  const use = (key: DeviceKey) => finishWith(key, isNew);
  const create = answer.kind === 'new' ? (key: DeviceKey) => finishWith(key, true) : undefined;
  const cancel = (notice: Notice | null = null) => {
    // The unfinished login expires by itself, so a failure needs no notice.
    external.giveUp(provider, answer.pending).catch(() => undefined);
    close(notice);
  };
  const [isByCode, showCode] = useState(false);
  const name = useProviderName(provider);
  if (isByCode) {
    return <CodeSignIn startSession={startSession} close={cancel} />;
  }
  return (
    <section aria-labelledby="finish">
      <h1 id="finish">{isNew ? newKey.title : newKey.open}</h1>
      {!isNew && <SignedInAs {...{ provider, name, proof }} pending={answer.pending} />}
      {isNew ? <NewKeyForm use={use} /> : <KeyForm {...{ use, create }} isScanned />}
      {answer.kind === 'known' && <WithoutKey name={name} useDevice={() => showCode(true)} />}
      <div class="row">
        {answer.kind === 'new' && (
          <Button
            class="link"
            onClick={() => choose(isNew ? 'own-key' : 'new-key')}
            text={isNew ? newKey.haveOne : newKey.haveNone}
          />
        )}
        <Button class="link" onClick={() => cancel()} text={t.cancel} />
      </div>
    </section>
  );
}

interface SignedInAsProps extends Required<ExternalFinish> {
  readonly provider: string;
  /** The name of the provider. */
  readonly name: string;
}

/** Names the person, once the server has said who it is. */
function SignedInAs({ provider, name, ...proven }: SignedInAsProps) {
  const [login, show] = useState<string | null>(null);
  useEffect(() => {
    // Without an answer, the page names the provider alone.
    const { external } = clientFor();
    void external.loginOf(provider, proven).then(show, () => undefined);
  }, []);
  return <p>{t.newKey.provider(name, login)}</p>;
}

/** @returns the id until the name is known */
function useProviderName(id: string): string {
  const [name, show] = useState(id);
  useEffect(() => void providerName(id).then(show, () => undefined), [id]);
  return name;
}

interface WithoutKeyProps {
  /** The name of the provider. */
  readonly name: string;
  readonly useDevice: () => void;
}

/** The ways on for a person whose account has a key that is not at hand here. */
function WithoutKey({ name, useDevice }: WithoutKeyProps) {
  const { lostKey, signIn } = t;
  return (
    <>
      <p class="divider">{signIn.or}</p>
      <div class="stack">
        <Button onClick={useDevice} icon="phone" text={signIn.otherDevice} />
        <p class="hint">{lostKey.otherDeviceHint}</p>
      </div>
      <details>
        <summary>{lostKey.title}</summary>
        <p>{lostKey.first}</p>
        <p>{lostKey.loss}</p>
        <p>{lostKey.administrator(name)}</p>
      </details>
    </>
  );
}

function Choice({ choose }: { choose: (step: Step) => void }) {
  const { kind } = t;
  return (
    <section aria-labelledby="choice">
      <h1 id="choice">{kind.title}</h1>
      <div class="stack">
        <button type="button" class="choice" onClick={() => choose('new-key')}>
          <strong>{kind.e2ee}</strong>
          <span>{kind.e2eeHint}</span>
        </button>
        <button type="button" class="choice" onClick={() => choose('without-key')}>
          <strong>{kind.plain}</strong>
          <span>{kind.plainHint}</span>
        </button>
      </div>
    </section>
  );
}
