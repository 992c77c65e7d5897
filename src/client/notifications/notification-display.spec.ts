import {
  buildPreviews,
  ANDROID_CHANNELS,
  DEV_PUSH_VARIABLE,
  iosSubtitle,
  presentNotification,
  readForegroundBehavior,
  readRequestPreviews,
  registersPushToken,
  showsRequestPreview,
  type Presentation,
  type PreviewFacts,
  type Screen,
} from './notification-display.js';
import { readNotificationTarget, type NotificationTarget } from './notification-routing.js';

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
      'Events 9: a closed app shows no session',
      { viewing: here, isAppOpen: false },
      'shown',
      true,
      true,
    ],
  ])('%s', (_name, change, reason, showsBanner, playsSound) => {
    const presentation = presentNotification(TARGET, { ...open, ...change });
    expect(presentation).toEqual({ reason, showsBanner, playsSound });
  });

  it.each([true, false])('shows no answered request, app open: %s', (isAppOpen) => {
    const target = readNotificationTarget({ ...TARGET, resolved: 'true' });
    expect(presentNotification(target ?? TARGET, { ...open, isAppOpen })).toEqual({
      reason: 'resolved',
      showsBanner: false,
      playsSound: false,
    });
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

describe('Events 10: Android channels', () => {
  it('are separate for permission requests and action requests', () => {
    const ids = Object.values(ANDROID_CHANNELS).map(({ id }) => id);
    expect(ids).toEqual(['ready', 'permission-requests', 'action-requests', 'resolved']);
  });
});

describe('Events 10: the subtitle on iOS', () => {
  it.each<[string, Parameters<typeof iosSubtitle>, string | null]>([
    ['the tool of a permission request', ['permission_request', 'Bash'], 'Bash'],
    ['the name of a question', ['user_action_request', 'AskUserQuestion'], 'AskUserQuestion'],
    ['none for ready events', ['ready', 'Bash'], null],
    ['none where there is no name', ['permission_request', null], null],
    ['none where the name is blank', ['permission_request', ' \n\u202e '], null],
    ['nothing that turns or hides text', ['permission_request', 'a\u202eb\u0000c'], 'a b c'],
    ['64 characters as they are', ['permission_request', 'x'.repeat(64)], 'x'.repeat(64)],
    ['more with an ellipsis', ['permission_request', 'x'.repeat(65)], `${'x'.repeat(63)}…`],
    ['whole characters only', ['permission_request', '👩‍👩‍👧'.repeat(65)], `${'👩‍👩‍👧'.repeat(63)}…`],
  ])('%s', (_name, [topic, toolName], expected) => {
    expect(iosSubtitle(topic, toolName)).toBe(expected);
  });

  it('is shortened by code points where the engine knows no graphemes', () => {
    const { Segmenter } = Intl;
    Reflect.deleteProperty(Intl, 'Segmenter');
    try {
      expect(iosSubtitle('permission_request', '😀'.repeat(65))).toBe(`${'😀'.repeat(63)}…`);
    } finally {
      Object.assign(Intl, { Segmenter });
    }
  });
});

describe('Events 12: the request-preview preference', () => {
  it.each<[string, unknown, boolean]>([
    ['switched off', { requestPreviews: false }, false],
    ['switched on', { requestPreviews: true }, true],
    ['dropped by an older app', { v: 1, pushEnabled: true }, true],
    ['emptied by an older app', { requestPreviews: null }, true],
    ['of an unknown kind', { requestPreviews: 'no' }, true],
    ['of an account that never saved any', undefined, true],
    ['of settings that are broken', 'x', true],
  ])('%s', (_name, settings, expected) => {
    expect(readRequestPreviews(settings)).toBe(expected);
  });
});

describe('Events 4: request previews', () => {
  const on: PreviewFacts = { isBuiltIn: true, settings: {}, isOnForDevice: true };

  it.each<[string, Partial<PreviewFacts>, boolean]>([
    ['show when all switches are on', {}, true],
    ['are for development builds', { isBuiltIn: false }, false],
    ['can be off for the account', { settings: { requestPreviews: false } }, false],
    ['can be off for the device', { isOnForDevice: false }, false],
  ])('%s', (_name, change, expected) => {
    expect(showsRequestPreview({ ...on, ...change })).toBe(expected);
  });
});

describe('Request previews: available in development builds', () => {
  it.each<[string | undefined, string | undefined, boolean, string]>([
    ['production', undefined, false, 'production-build'],
    ['production', '', false, 'production-build'],
    ['production', '0', false, 'production-build'],
    ['production', 'maybe', false, 'production-build'],
    ['production', '1', true, 'variable'],
    ['production', ' On ', true, 'variable'],
    ['development', undefined, true, 'development-build'],
    ['test', '1', true, 'development-build'],
    [undefined, undefined, true, 'development-build'],
    [undefined, 'maybe', true, 'development-build'],
    [undefined, '0', false, 'variable'],
    ['development', 'false', false, 'variable'],
  ])('NODE_ENV %j, variable %j: %s (%s)', (mode, value, isBuiltIn, decidedBy) => {
    const variables = { NODE_ENV: mode, CLIENT_PUBLIC_REQUEST_PREVIEWS: value };
    expect(buildPreviews(variables)).toEqual({ isBuiltIn, decidedBy });
  });
});

describe('Events 11: push token registration', () => {
  it('goes by the variable of the specification', () => {
    expect(DEV_PUSH_VARIABLE).toBe('CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION');
  });

  it.each<[boolean, string | undefined, boolean]>([
    [true, undefined, false],
    [true, '', false],
    [true, '0', false],
    [true, 'true', false],
    [true, '1', true],
    [false, undefined, true],
    [false, '0', true],
    [false, '1', true],
  ])('development build %s, variable %j: %s', (isDevelopmentBuild, value, expected) => {
    const variables = { [DEV_PUSH_VARIABLE]: value };
    expect(registersPushToken({ isDevelopmentBuild, variables })).toBe(expected);
  });
});
