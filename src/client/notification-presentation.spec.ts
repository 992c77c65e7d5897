import {
  presentNotification,
  readForegroundBehavior,
  type Presentation,
  type Screen,
} from './notification-presentation.js';
import type { NotificationTarget } from './notification-target.js';

const TARGET: NotificationTarget = {
  topic: 'ready',
  serverUrl: 'https://gate.example',
  sessionId: 's1',
  requestId: null,
  eventId: null,
};
const here = { serverUrl: 'https://gate.example/', sessionId: 's1' };
const open: Screen = { isAppOpen: true, behavior: 'full', viewing: null };

describe(presentNotification.name, () => {
  it.each<[string, Partial<Screen>, Presentation['reason'], boolean, boolean]>([
    ['Full: as it is', {}, 'shown', true, true],
    ['Silent: without a sound', { behavior: 'silent' }, 'silent', true, false],
    ['Off: not while the app is open', { behavior: 'off' }, 'off', false, false],
    ['Off: still while it is closed', { behavior: 'off', isAppOpen: false }, 'shown', true, true],
    [
      'Silent: aloud while it is closed',
      { behavior: 'silent', isAppOpen: false },
      'shown',
      true,
      true,
    ],
    ['Events 9: the session on screen', { viewing: here }, 'session-on-screen', false, false],
    [
      'Events 9: a session of that id on another server',
      { viewing: { ...here, serverUrl: 'https://other.example' } },
      'shown',
      true,
      true,
    ],
    ['Events 9: another session', { viewing: { ...here, sessionId: 's2' } }, 'shown', true, true],
    [
      'Events 9: nobody looks at a closed app',
      { viewing: here, isAppOpen: false },
      'shown',
      true,
      true,
    ],
  ])('%s', (_name, change, reason, showsBanner, playsSound) => {
    const presentation = presentNotification(TARGET, { ...open, ...change });
    expect(presentation).toEqual({ reason, showsBanner, playsSound });
  });
});

describe(readForegroundBehavior.name, () => {
  it.each<[unknown, string]>([
    ['full', 'full'],
    ['silent', 'silent'],
    ['off', 'off'],
    [undefined, 'full'],
    ['loud', 'full'],
  ])('reads %j as %s', (value, expected) => {
    expect(readForegroundBehavior(value)).toBe(expected);
  });
});
