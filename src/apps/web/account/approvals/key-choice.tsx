import { useEffect, useState } from 'preact/hooks';
import { requireOwnKey } from '../../../../packages/client/api/own-key.js';
import type { DeviceKey } from '../../../../packages/client/crypto/device-key.js';
import { requestMessages } from '../../i18n/request-messages.js';
import { clientFor } from '../../server.js';
import { Button } from '../../ui/button.js';
import { Check } from '../../ui/fields.js';
import { done, NoticeLine, useAction, type Notice } from '../../ui/notice.js';
import { Section } from '../../ui/section.js';
import { KeyForm } from '../key-forms.js';
import { rememberedKey } from '../key-memory.js';
import type { Account, AccountActions } from '../use-account.js';
import {
  keepingChoices,
  keepKeys,
  keysOfTab,
  type AnswerKeys,
  type KeepingChoices,
} from './answer-keys.js';
import { forgetOtherKeys } from './browser-store.js';
import { Badge } from '../../ui/badge.js';

interface KeyChoiceProps extends Pick<AccountActions, 'endSession' | 'noteKey'> {
  readonly profile: Account['profile'];
  readonly keys: AnswerKeys | null;
  readonly setKeys: (keys: AnswerKeys | null) => void;
}

/** The keys with which this browser opens and answers requests: none, in this tab, or kept. */
export function KeyChoice({ profile: { id }, keys, setKeys, endSession, noteKey }: KeyChoiceProps) {
  const { key: texts } = requestMessages;
  const [notice, show] = useState<Notice | null>(null);
  const choices = useKeepingChoices();
  if (choices === null) {
    return null;
  }
  const use = async (key: DeviceKey, isEntered: boolean) => {
    await requireOwnKey(clientFor(), key, id);
    noteKey(key, isEntered);
    setKeys(keysOfTab(key, id));
  };
  const kept = keys?.place === 'browser' && (
    <Badge tone="good" icon="check" text={keys.isConfirmed ? texts.isConfirmed : texts.isKept} />
  );
  const lead = texts.leads[keys?.place ?? 'none'];
  return (
    <Section id="answer-keys" title={texts.title} lead={lead} action={kept}>
      {keys === null && (
        <KeyForm
          id="answer-key"
          use={use}
          keptFor={id}
          endSession={endSession}
          label={texts.open}
          isScanned
        />
      )}
      {keys?.place === 'tab' && <Keep {...{ id, choices, setKeys, show, endSession }} />}
      {keys?.place === 'browser' && <Forget {...{ id, setKeys, show }} />}
      <NoticeLine notice={notice} />
    </Section>
  );
}

interface KeepProps {
  readonly id: string;
  readonly choices: KeepingChoices;
  readonly setKeys: (keys: AnswerKeys) => void;
  readonly show: (notice: Notice | null) => void;
  readonly endSession: (notice: Notice) => void;
}

/** Offers to keep the keys, so that the next request can be answered at once. */
function Keep({ id, choices, setKeys, show, endSession }: KeepProps) {
  const { key: texts } = requestMessages;
  const [isConfirmed, confirm] = useState(choices.canConfirm);
  const { isBusy, run } = useAction(show, endSession);
  const key = rememberedKey(id);
  if (!choices.canKeep || key === null) {
    return <p class="quiet">{choices.canKeep ? texts.enterAgain : texts.cannotKeep}</p>;
  }
  const keep = () =>
    run(async () => {
      setKeys(await keepKeys(key, id, isConfirmed ? texts.passkey(id.slice(0, 8)) : null));
      show(done(() => requestMessages.key.kept));
    });
  return (
    <>
      <p>{texts.risk}</p>
      {choices.canConfirm && (
        <Check checked={isConfirmed} set={confirm} label={texts.confirm} hint={texts.confirmHint} />
      )}
      <Button disabled={isBusy} onClick={keep} icon="lock" text={texts.keep} />
    </>
  );
}

interface ForgetProps extends Pick<KeyChoiceProps, 'setKeys'> {
  readonly id: string;
  readonly show: (notice: Notice | null) => void;
}

function Forget({ id, setKeys, show }: ForgetProps) {
  const { key: texts } = requestMessages;
  const forget = async () => {
    await forgetOtherKeys(null);
    const key = rememberedKey(id);
    setKeys(key && keysOfTab(key, id));
    show(done(() => requestMessages.key.forgotten));
  };
  return (
    <>
      <p class="hint">{texts.ends}</p>
      <div class="row">
        <Button class="danger" onClick={() => void forget()} text={texts.forget} />
      </div>
    </>
  );
}

function useKeepingChoices(): KeepingChoices | null {
  const [choices, setChoices] = useState<KeepingChoices | null>(null);
  useEffect(() => {
    const none = { canKeep: false, canConfirm: false };
    keepingChoices().then(setChoices, () => setChoices(none));
  }, []);
  return choices;
}
