import { isSameServer } from './notification-routing.js';
import type { NotificationTarget } from './notification-target.js';

/** In-app notifications while the app is open (specification, Notification preferences). */
export type ForegroundBehavior = 'full' | 'silent' | 'off';

/** What is in front of the person right now. */
export interface Screen {
  readonly isAppOpen: boolean;
  readonly behavior: ForegroundBehavior;
  /** The session on screen; null on any other screen. */
  readonly viewing: { readonly serverUrl: string; readonly sessionId: string } | null;
}

export interface Presentation {
  readonly showsBanner: boolean;
  readonly playsSound: boolean;
  readonly reason: 'shown' | 'silent' | 'off' | 'session-on-screen';
}

const SHOWN: Presentation = { showsBanner: true, playsSound: true, reason: 'shown' };
const IN_APP: Readonly<Record<ForegroundBehavior, Presentation>> = {
  full: SHOWN,
  silent: { showsBanner: true, playsSound: false, reason: 'silent' },
  off: { showsBanner: false, playsSound: false, reason: 'off' },
};
const ON_SCREEN: Presentation = {
  showsBanner: false,
  playsSound: false,
  reason: 'session-on-screen',
};

/** How loudly a notification comes; not at all for the session in view (specification, Events 9). */
export function presentNotification(target: NotificationTarget, screen: Screen): Presentation {
  const { isAppOpen, behavior, viewing } = screen;
  if (!isAppOpen) {
    return SHOWN;
  }
  const isInView =
    viewing !== null &&
    viewing.sessionId === target.sessionId &&
    isSameServer(viewing.serverUrl, target.serverUrl);
  return isInView ? ON_SCREEN : IN_APP[behavior];
}

/** The setting as the account has it; missing or unknown means `full`. */
export function readForegroundBehavior(value: unknown): ForegroundBehavior {
  return value === 'silent' || value === 'off' ? value : 'full';
}
