import { useLayoutEffect, useState } from 'preact/hooks';
import { forgetKeyOf } from '../key-memory.js';
import { discardKeptKey } from '../tab-state.js';

/** One per tab, because a channel does not receive its own messages. They name the account. */
const tabs = new BroadcastChannel('gatehouse.forgotten-key');

/** Forgets the key of the account in all tabs of this browser, in memory and in storage. */
export function forgetKeyInAllTabs(accountId: string): void {
  forgetHere(accountId);
  tabs.postMessage(accountId);
}

/** @returns a number that changes when another tab forgets the key of the account */
export function useForgottenKey(accountId: string): number {
  const [count, setCount] = useState(0);
  useLayoutEffect(() => {
    const onMessage = ({ data }: MessageEvent<unknown>) => {
      if (data === accountId) {
        forgetHere(accountId);
        setCount((before) => before + 1);
      }
    };
    tabs.addEventListener('message', onMessage);
    return () => tabs.removeEventListener('message', onMessage);
  }, [accountId]);
  return count;
}

function forgetHere(accountId: string): void {
  discardKeptKey(accountId);
  forgetKeyOf(accountId);
}
