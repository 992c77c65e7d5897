import type { NotificationTarget } from './notification-routing.js';
import { readWebPushMessage, requestAddress, webNotification } from './web-push.js';

const target: NotificationTarget = {
  topic: 'permission_request',
  serverUrl: 'https://gate.example',
  sessionId: 'a/b&c',
  requestId: '{sessionId}',
  eventId: 'e',
};
const message = {
  title: 'Permission needed',
  body: 'npm test',
  tag: 't',
  createdAt: 7,
  foregroundBehavior: 'silent',
  target,
} as const;
const onScreen = { serverUrl: 'https://GATE.example/', sessionId: 'a/b&c' };

describe(webNotification.name, () => {
  it.each([
    [{ isAppOpen: false, viewing: null }, false],
    [{ isAppOpen: true, viewing: null }, true],
    [{ isAppOpen: true, viewing: { ...onScreen, sessionId: 'other' } }, true],
  ])('shows a notification with %j, silent: %j', (screen, silent) => {
    expect(webNotification(message, screen)).toEqual({
      title: 'Permission needed',
      options: { body: 'npm test', tag: 't', timestamp: 7, silent, data: target },
    });
  });

  it('shows nothing of a request where the switch of the device is off, also of an older sender (Events 12)', () => {
    const away = { isAppOpen: false, viewing: null };
    const bodyOf = (change: Partial<NotificationTarget>) =>
      webNotification({ ...message, target: { ...target, ...change } }, away, false)?.options.body;
    expect([
      bodyOf({}),
      bodyOf({ topic: 'user_action_request' }),
      bodyOf({ topic: 'ready', requestId: null }),
      bodyOf({ isResolved: true }),
    ]).toEqual([
      'Something needs your permission to go on.',
      'A question is waiting for your answer.',
      'npm test',
      'npm test',
    ]);
  });

  it('shows nothing for the session on screen, and nothing when it is off', () => {
    expect(webNotification(message, { isAppOpen: true, viewing: onScreen })).toBeNull();
    const off = { ...message, foregroundBehavior: 'off' } as const;
    expect(webNotification(off, { isAppOpen: true, viewing: null })).toBeNull();
    expect(webNotification(off, { isAppOpen: false, viewing: null })).not.toBeNull();
  });
});

describe(readWebPushMessage.name, () => {
  it('reads the message of a sender, and fills in fields that an older one omits', () => {
    expect(readWebPushMessage(JSON.parse(JSON.stringify(message)))).toEqual(message);
    const old = { ...message, createdAt: undefined, foregroundBehavior: 'loud' };
    const read = readWebPushMessage(old);
    expect(read).toMatchObject({ createdAt: 0, foregroundBehavior: 'full' });
  });

  it.each([null, 'x', {}, { ...message, title: 7 }, { ...message, target: { topic: 'ready' } }])(
    'refuses %j',
    (value) => expect(readWebPushMessage(value)).toBeNull(),
  );
});

describe(requestAddress.name, () => {
  it('encodes each inserted value once', () => {
    const template = 'https://app.example/{sessionId}?r={requestId}&s={serverUrl}#{other}';
    expect(requestAddress(template, target)).toBe(
      'https://app.example/a%2Fb%26c?r=%7BsessionId%7D&s=https%3A%2F%2Fgate.example#%7Bother%7D',
    );
    expect(requestAddress('https://a.example/{requestId}', { ...target, requestId: null })).toBe(
      'https://a.example/',
    );
  });
});
