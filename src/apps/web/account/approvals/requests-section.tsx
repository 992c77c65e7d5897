import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../ui/icon.js';
import { Loading } from '../../ui/notice.js';
import { requestMessages } from '../../i18n/request-messages.js';
import { accountMode } from '../account-pins.js';
import { rememberedKey } from '../key-memory.js';
import type { SectionProps } from '../use-account.js';
import { keptKeys, keysOfTab, type AnswerKeys } from './answer-keys.js';
import { KeyChoice } from './key-choice.js';
import { RequestList } from './request-list.js';
import { RequestView } from './request-view.js';
import { requestHash, useOpenRequest } from './request-address.js';
import { useRequests } from './use-requests.js';
import { useEvents } from '../../ui/use-events.js';

export { loadRequestMessages as loadTexts } from '../../i18n/request-messages.js';

/** The requests of programs that wait for a decision of this account. */
export function RequestsSection({ account, pressedAllow, ...actions }: SectionProps) {
  const { profile } = account;
  const [keys, setKeys] = useAnswerKeys(profile.id, accountMode(profile) === 'plain');
  const requests = useRequests(account, keys, actions);
  const open = useOpenRequest();
  useFocusOfOpened(open);
  if (keys === undefined || requests.items === null) {
    return <Loading retry={requests.reload} notify={actions.notify} />;
  }
  const isPlain = accountMode(profile) === 'plain';
  const choice = !isPlain && <KeyChoice {...{ profile, keys, setKeys, ...actions }} />;
  if (open !== null) {
    const item = requests.items.find(({ id }) => id === open) ?? null;
    return (
      <>
        <Offline />
        <RequestView key={open} {...{ item, keys, isPlain, requests, pressedAllow, ...actions }} />
        {keys === null && choice}
      </>
    );
  }
  return (
    <>
      <Offline />
      <RequestList items={requests.items} />
      {choice}
    </>
  );
}

/** @returns undefined while they are loading */
function useAnswerKeys(accountId: string, isPlain: boolean) {
  const state = useState<AnswerKeys | null | undefined>(undefined);
  const [, setKeys] = state;
  useEffect(() => {
    const load = async (): Promise<AnswerKeys | null> => {
      const key = rememberedKey(accountId);
      return (await keptKeys(accountId)) ?? (key && keysOfTab(key, accountId));
    };
    if (isPlain) {
      setKeys(null);
    } else {
      load().then(setKeys, () => setKeys(null));
    }
  }, [accountId, isPlain]);
  return state;
}

/** Moves the focus to the heading of an opened request, and from there back to its link in the list. */
function useFocusOfOpened(open: string | null): void {
  const shown = useRef(open);
  // As in `useFocus`: later it would leave what the person focused meanwhile.
  useLayoutEffect(() => {
    if (open !== shown.current) {
      const target = open === null ? `a[href="${requestHash(shown.current ?? '')}"]` : '#request';
      document.querySelector<HTMLElement>(target)?.focus();
      shown.current = open;
    }
  }, [open]);
}

function Offline() {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEvents(() => setOnline(navigator.onLine), 'online', 'offline');
  return isOnline ? null : (
    <div class="notice" role="status">
      <p>
        <Icon name="alert" />
        <span>{requestMessages.offline}</span>
      </p>
    </div>
  );
}
