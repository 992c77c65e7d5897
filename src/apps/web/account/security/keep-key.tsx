import { useEffect, useState } from 'preact/hooks';
import { keepMessages } from '../../i18n/keep-messages.js';
import { Button } from '../../ui/button.js';
import { done, NoticeLine, useNotedAction } from '../../ui/notice.js';
import { Section } from '../../ui/section.js';
import { recentKey, useRecentKey } from '../key-memory.js';
import { passkeySupport, sealBytesWithPasskey, type PasskeySupport } from '../passkey.js';
import { keptKeyOf, saveKeptKey } from '../tab-state.js';
import type { SectionProps } from '../use-account.js';
import { forgetKeyInAllTabs } from './forgotten-key.js';
import { Badge } from '../../ui/badge.js';

export { loadKeepMessages as loadTexts } from '../../i18n/keep-messages.js';

interface KeepKeyProps extends Pick<SectionProps, 'session' | 'endSession'> {
  /** All tabs have forgotten the key. */
  readonly onForgotten: () => void;
}

/** The choice to keep the key in this browser, encrypted for a passkey, until the session ends. */
export function KeepKey({ session: { accountId }, endSession, onForgotten }: KeepKeyProps) {
  const [isKept, setKept] = useState(() => keptKeyOf(accountId) !== null);
  const { notice, show, isBusy, run } = useNotedAction(endSession);
  const recent = useRecentKey(accountId);
  const keep = keepMessages;
  const start = () =>
    run(async () => {
      const key = recentKey(accountId);
      if (key !== null) {
        const name = keep.passkey(accountId.slice(0, 8));
        saveKeptKey({ accountId, ...(await sealBytesWithPasskey(key.bytes, accountId, name)) });
        setKept(keptKeyOf(accountId) !== null);
        show(done(() => keepMessages.done));
      }
    });
  const forget = () => {
    forgetKeyInAllTabs(accountId);
    onForgotten();
    setKept(false);
    show(done(() => keepMessages.forgotten));
  };
  const lead = isKept ? keep.keptLead : keep.lead;
  const badge = isKept && <Badge tone="good" icon="check" text={keep.isKept} />;
  return (
    <Section id="keep-key" title={keep.title} lead={lead} action={badge}>
      {isKept ? (
        <Forget forget={forget} />
      ) : (
        <Offer hasKey={recent !== null} isBusy={isBusy} start={start} />
      )}
      <NoticeLine notice={notice} />
    </Section>
  );
}

function Forget({ forget }: { readonly forget: () => void }) {
  return (
    <>
      <p class="hint">{keepMessages.ends}</p>
      <div class="row">
        <Button class="danger" onClick={forget} text={keepMessages.forget} />
      </div>
    </>
  );
}

interface OfferProps {
  /** True if the key was entered recently, so that an unattended tab does not keep it. */
  readonly hasKey: boolean;
  readonly isBusy: boolean;
  readonly start: () => void;
}

/** Offers only what this browser can do. */
function Offer({ hasKey, isBusy, start }: OfferProps) {
  const [support, setSupport] = useState<PasskeySupport | null>(null);
  const keep = keepMessages;
  useEffect(() => {
    passkeySupport().then(setSupport, () => setSupport('none'));
  }, []);
  if (support === null) {
    return null;
  }
  if (support === 'none' || support === 'address') {
    return <p>{support === 'none' ? keep.unsupported : keep.atAddress}</p>;
  }
  return (
    <>
      <p>{keep.risk}</p>
      <p class="hint">{keep.ends}</p>
      {support === 'security-key' && <p>{keep.securityKey}</p>}
      {!hasKey && <p class="quiet">{keep.enterFirst}</p>}
      {hasKey && (
        <div class="row">
          <Button disabled={isBusy} onClick={start} icon="lock" text={keep.start} />
        </div>
      )}
    </>
  );
}
