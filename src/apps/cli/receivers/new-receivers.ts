import { hash } from 'node:crypto';
import {
  makePrivateDirectory,
  readJsonIfExists,
  unlessUnusable,
  writePrivateFile,
} from '../../../common/private-files.js';
import { recordOf } from '../../../core/protocol/is-record.js';
import { isConfirmedReceiver } from '../../../packages/client/settings/receivers.js';
import { readEvent } from '../../../packages/notify/content/read-event.js';
import { planNotification } from '../../../packages/notify/delivery/plan.js';
import type { KnownAccount } from '../notify/spool-accounts.js';

const DAY_MS = 24 * 60 * 60_000;
const ALL_TOPICS = { ready: true, permission_request: true, user_action_request: true };

/** The announcements of one account by this computer. */
interface Announced {
  /** Unix milliseconds of the last one. */
  readonly at: number;
  /** Hashes of the push tokens that were announced and are still saved. */
  readonly receivers: readonly string[];
}

/**
 * Plans the announcement of push tokens that no device confirmed, to the confirmed ones: each token once,
 * and at most once a day (contract, Push tokens). It shows whether a push is switched off or not: it may
 * be the only sign of a stolen session.
 *
 * @param file remembers the announcements
 * @returns null where nothing is new; `save` stores that a receiver was reached
 */
export async function planAnnouncement(
  { preferences, tokens, current }: Pick<KnownAccount, 'preferences' | 'tokens' | 'current'>,
  file: { readonly directory: string; readonly path: string },
) {
  const { receivers } = preferences;
  const isConfirmed = ({ token }: { readonly token: string }) =>
    isConfirmedReceiver(receivers, token);
  const unconfirmed = tokens
    .filter((saved) => !isConfirmed(saved))
    .map(({ token }) => hash('sha256', token, 'base64url'));
  if (unconfirmed.length === 0) {
    return null;
  }
  const before = announcedIn(await readJsonIfExists(file.path).catch(() => null));
  const now = Date.now();
  const isNew = unconfirmed.some((one) => !before.receivers.includes(one));
  if (!isNew || (now - before.at < DAY_MS && now >= before.at)) {
    return null;
  }
  const event = announcement(current.session.server, unconfirmed.length, now);
  const push = { readyIncludeMessageText: true, requestPreviews: false, enabled: true };
  const { deliveries } = planNotification(
    event,
    { ...preferences, push: { ...push, topics: ALL_TOPICS }, channels: [], brokenChannels: [] },
    tokens.filter(isConfirmed),
    { now },
  );
  const announced: Announced = { at: now, receivers: unconfirmed };
  const save = () =>
    makePrivateDirectory(file.directory)
      .then(() => writePrivateFile(file.path, JSON.stringify(announced), false))
      .catch(unlessUnusable);
  return { deliveries, save };
}

/** It has no name of a device, because who added the device chose it. */
function announcement(serverUrl: string, count: number, now: number) {
  const devices = count === 1 ? 'A device' : `${count} devices`;
  return readEvent(
    {
      id: `receivers-${now}`,
      topic: 'ready',
      serverUrl,
      session: { sessionId: 'gatehouse-receivers', title: 'new device' },
      messageText: `${devices} of your account may notify, but none of yours has confirmed it. It gets no text. Confirm or remove it: ${serverUrl}/app/#notifications, or gatehouse tokens confirm.`,
    },
    now,
  );
}

function announcedIn(stored: unknown): Announced {
  const { at, receivers } = recordOf(stored);
  return {
    at: typeof at === 'number' ? at : 0,
    receivers: Array.isArray(receivers) ? (receivers as string[]) : [],
  };
}
