import { useEffect } from 'preact/hooks';
import type { AccountProfile } from '../../../packages/client/api/api-client-answers.js';
import type { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { isRefusalReason } from '../../../packages/client/refusal-reasons.js';
import { failureMessage } from '../i18n/failure.js';
import { formatRelative } from '../i18n/format.js';
import { t } from '../i18n/messages.js';
import { refusedMessages } from '../i18n/refused-messages.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { NoticeLine, problem, useNotedAction } from '../ui/notice.js';
import { RefusalHelp } from '../ui/refusal-help.js';
import { goToConnect } from './security/go-to-connect.js';
import { CERTIFICATE } from './tab-state.js';
import type { Account, SectionProps } from './use-account.js';

export { loadRefusedMessages as loadTexts } from '../i18n/refused-messages.js';

type RefusalProps = Pick<SectionProps, 'account' | 'session' | 'endSession' | 'notify' | 'refresh'>;

/** The reason of a refusal, the ways back, and who can help. */
export function Refusal({ account, notify, ...props }: RefusalProps) {
  const refused = refusedMessages;
  // An earlier "connected" above the card would contradict it.
  useEffect(() => notify(null), []);
  const { refusal } = account;
  if (refusal === null) {
    return null;
  }
  const { reason, hint, action } = factsOf(account, refusal);
  return (
    <section class="refused" aria-labelledby="refused">
      <div class="lead" role="alert">
        <h2 id="refused" class="titled">
          <Icon name="alert" />
          {refused.title}
        </h2>
        <p>
          <strong>{reason}</strong> {refused.kept}
        </p>
      </div>
      {refusal.provider !== undefined && <p class="quiet">{hint}</p>}
      <WaysBack provider={refusal.provider ?? null} action={action} {...props} />
      <RefusalHelp accountId={account.profile.id} />
    </section>
  );
}

interface WaysBackProps extends Pick<RefusalProps, 'session' | 'endSession' | 'refresh'> {
  /** null = the refusal names none. */
  readonly provider: string | null;
  readonly action: string;
}

function WaysBack({ provider, action, session, endSession, refresh }: WaysBackProps) {
  const { notice, show, isBusy, run } = useNotedAction(endSession);
  // A regained access removes the card, and this sentence with it.
  const checkAgain = async () => {
    await refresh();
    show(problem(() => refusedMessages.stillRefused));
  };
  return (
    <>
      <div class="row">
        {provider !== null && (
          <Button
            class="primary"
            disabled={isBusy}
            onClick={() => run(() => goToConnect(session.token, provider))}
            text={action}
          />
        )}
        <Button
          disabled={isBusy}
          onClick={() => run(checkAgain)}
          text={refusedMessages.checkAgain}
        />
      </div>
      <NoticeLine notice={notice} />
    </>
  );
}

type Eligibility = AccountProfile['identities'][number]['eligibility'];

function factsOf({ profile, features }: Account, refusal: GatehouseProblem) {
  const refused = refusedMessages;
  const { providers = {} } = features.capabilities.auth;
  const nameOf = (id: string) =>
    providers[id]?.displayName ?? (id === CERTIFICATE ? t.security.certificate : id);
  const { provider: id = '' } = refusal;
  const identity = profile.identities.find(({ provider }) => provider === id);
  const general = failureMessage(refusal, nameOf);
  if (identity === undefined) {
    return { reason: general, action: refused.connect(nameOf(id)), hint: refused.connectHint };
  }
  const sentence = reasonOf(identity.eligibility, refusal.code);
  const isCertificate = id === CERTIFICATE;
  return {
    reason: sentence?.replace('{provider}', () => nameOf(id)) ?? general,
    action: isCertificate ? refused.certificateAgain : refused.signInAgain(nameOf(id)),
    hint: isCertificate
      ? refused.certificateHint
      : hintOf(refusal.code, identity.eligibility.nextCheckAt),
  };
}

function reasonOf({ reason }: Eligibility, code: string): string | null {
  if (isRefusalReason(reason)) {
    return refusedMessages.reasons[reason];
  }
  return code === 'provider-required' ? refusedMessages.signedOut : null;
}

function hintOf(code: string, nextCheckAt: number | null): string {
  const refused = refusedMessages;
  if (code === 'provider-required') {
    return refused.signInHint;
  }
  return nextCheckAt === null || nextCheckAt < Date.now()
    ? refused.restoredHint
    : `${refused.restoredHint} ${refused.nextCheck(formatRelative(nextCheckAt))}`;
}
