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
    ['Full: shows the notification with its sound', {}, 'shown', true, true],
    [
      'Silent: shows the notification without a sound',
      { behavior: 'silent' },
      'silent',
      true,
      false,
    ],
    ['Off: hides the notification while the app is open', { behavior: 'off' }, 'off', false, false],
    [
      'Off: shows the notification while the app is closed',
      { behavior: 'off', isAppOpen: false },
      'shown',
      true,
      true,
    ],
    [
      'Silent: plays the sound while the app is closed',
      { behavior: 'silent', isAppOpen: false },
      'shown',
      true,
      true,
    ],
    [
      'Events 9: hides a notification of the session on screen',
      { viewing: here },
      'session-on-screen',
      false,
      false,
    ],
    [
      'Events 9: shows a notification of another server with the same session id',
      { viewing: { ...here, serverUrl: 'https://other.example' } },
      'shown',
      true,
      true,
    ],
    [
      'Events 9: shows a notification of another session',
      { viewing: { ...here, sessionId: 's2' } },
      'shown',
      true,
      true,
    ],
    [
      'Events 9: shows a notification of the last session of a closed app',
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
  it('separates permission requests and action requests', () => {
    const ids = Object.values(ANDROID_CHANNELS).map(({ id }) => id);
    expect(ids).toEqual(['ready', 'permission-requests', 'action-requests', 'resolved']);
  });
});

describe('Events 10: the subtitle on iOS', () => {
  it.each<[string, Parameters<typeof iosSubtitle>, string | null]>([
    ['shows the tool of a permission request', ['permission_request', 'Bash'], 'Bash'],
    ['shows the name of a question', ['user_action_request', 'AskUserQuestion'], 'AskUserQuestion'],
    ['shows none for ready events', ['ready', 'Bash'], null],
    ['shows none without a name', ['permission_request', null], null],
    ['shows none for a blank name', ['permission_request', ' \n\u202e '], null],
    [
      'removes characters that turn or hide text',
      ['permission_request', 'a\u202eb\u0000c'],
      'a b c',
    ],
    ['keeps 64 characters', ['permission_request', 'x'.repeat(64)], 'x'.repeat(64)],
    [
      'shortens more with an ellipsis',
      ['permission_request', 'x'.repeat(65)],
      `${'x'.repeat(63)}…`,
    ],
    [
      'shortens at whole characters',
      ['permission_request', '👩‍👩‍👧'.repeat(65)],
      `${'👩‍👩‍👧'.repeat(63)}…`,
    ],
  ])('%s', (_name, [topic, toolName], expected) => {
    expect(iosSubtitle(topic, toolName)).toBe(expected);
  });

  it('shortens by code points where the engine has no graphemes', () => {
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
    ['reads off', { requestPreviews: false }, false],
    ['reads on', { requestPreviews: true }, true],
    ['reads on where an older app removed the field', { v: 1, pushEnabled: true }, true],
    ['reads on where an older app wrote null', { requestPreviews: null }, true],
    ['reads on for another type', { requestPreviews: 'no' }, true],
    ['reads on for an account without settings', undefined, true],
    ['reads on for invalid settings', 'x', true],
  ])('%s', (_name, settings, expected) => {
    expect(readRequestPreviews(settings)).toBe(expected);
  });
});

describe('Events 4: request previews', () => {
  const on: PreviewFacts = { isBuiltIn: true, settings: {}, isOnForDevice: true };

  it.each<[string, Partial<PreviewFacts>, boolean]>([
    ['shows previews when all switches are on', {}, true],
    ['hides previews in other than development builds', { isBuiltIn: false }, false],
    [
      'hides previews when they are off for the account',
      { settings: { requestPreviews: false } },
      false,
    ],
    ['hides previews when they are off for the device', { isOnForDevice: false }, false],
  ])('%s', (_name, change, expected) => {
    expect(showsRequestPreview({ ...on, ...change })).toBe(expected);
  });
});

describe('Request previews: available in development builds', () => {
  it.each<[boolean, string | undefined, boolean, string]>([
    [false, undefined, false, 'release-build'],
    [false, '', false, 'release-build'],
    [false, '0', false, 'release-build'],
    [false, 'maybe', false, 'release-build'],
    [false, '1', true, 'variable'],
    [false, ' On ', true, 'variable'],
    [true, undefined, true, 'development-build'],
    [true, '1', true, 'development-build'],
    [true, 'maybe', true, 'development-build'],
    [true, '0', false, 'variable'],
    [true, 'false', false, 'variable'],
  ])(
    'decides previews of a development build %s, variable %j: %s (%s)',
    (isDevelopmentBuild, value, isBuiltIn, by) => {
      const variables = { CLIENT_PUBLIC_REQUEST_PREVIEWS: value };
      const decided = buildPreviews({ isDevelopmentBuild, variables });
      expect(decided).toEqual({ isBuiltIn, decidedBy: by });
    },
  );

  it('ignores NODE_ENV of the machine', () => {
    for (const NODE_ENV of [undefined, 'development', 'test', 'production']) {
      const facts = { isDevelopmentBuild: false, variables: { NODE_ENV } };
      expect(buildPreviews(facts).isBuiltIn).toBe(false);
    }
  });
});

describe('Events 11: push token registration', () => {
  it('follows the variable of the specification', () => {
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
  ])(
    'decides for a development build %s and variable %j: %s',
    (isDevelopmentBuild, value, expected) => {
      const variables = { [DEV_PUSH_VARIABLE]: value };
      expect(registersPushToken({ isDevelopmentBuild, variables })).toBe(expected);
    },
  );
});
