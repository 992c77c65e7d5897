import { ANDROID_CHANNELS, iosSubtitle } from './notification-platform.js';

describe('Events 10: Android channels', () => {
  it('are separate for permission requests and action requests', () => {
    const ids = Object.values(ANDROID_CHANNELS).map(({ id }) => id);
    expect(ids).toEqual(['ready', 'permission-requests', 'action-requests']);
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
