import { useState } from 'preact/hooks';
import { forgetKeyOf } from '../key-memory.js';
import { discardKeptKey } from '../tab-state.js';
import { tabChannel } from './tab-channel.js';

/** Its messages name the account. */
const forgottenKey = tabChannel('gatehouse.forgotten-key');

/** Forgets the key of the account in all tabs of this browser, in memory and in storage. */
export function forgetKeyInAllTabs(accountId: string): void {
  forgetHere(accountId);
  forgottenKey.send(accountId);
}

/** @returns a number that changes when another tab forgets the key of the account */
export function useForgottenKey(accountId: string): number {
  const [count, setCount] = useState(0);
  forgottenKey.useMessage(accountId, () => {
    forgetHere(accountId);
    setCount((before) => before + 1);
  });
  return count;
}

function forgetHere(accountId: string): void {
  discardKeptKey(accountId);
  forgetKeyOf(accountId);
}
