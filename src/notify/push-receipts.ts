import type { ExpoPushReceipt } from 'expo-server-sdk';
import { pushFailure } from './push-errors.js';

/** A message that the push service took. */
export interface SentTicket {
  readonly receiptId: string;
  readonly token: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
}

/** `delivered` = the phone's notification service has it; nobody knows whether it was shown. */
export type ReceiptResult =
  | { readonly state: 'delivered' | 'pending' | 'lost' }
  | {
      readonly state: 'failed';
      readonly code: string;
      readonly detail: string;
      readonly directive?: 'delete-token';
    };

/** Receipts are not ready before this. */
export const RECEIPT_AFTER_MS = 15 * 60_000;
/** And are forgotten after this. */
export const RECEIPT_LOST_AFTER_MS = 24 * 3_600_000;

/** What one receipt says; a missing one is not ready yet, or never will be. */
export function judgeReceipt(
  { token, sentAt }: SentTicket,
  receipt: ExpoPushReceipt | undefined,
  now: number,
): ReceiptResult {
  if (receipt?.status === 'ok') {
    return { state: 'delivered' };
  }
  if (receipt?.status !== 'error') {
    return { state: now - sentAt < RECEIPT_LOST_AFTER_MS ? 'pending' : 'lost' };
  }
  const { error = '', expoPushToken = token } = receipt.details ?? {};
  const { code, detail } = pushFailure(error);
  const isGone = error === 'DeviceNotRegistered' && expoPushToken === token;
  return { state: 'failed', code, detail, ...(isGone && { directive: 'delete-token' }) };
}
