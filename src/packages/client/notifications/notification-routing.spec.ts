import {
  actOnNotification,
  continueAfterAdding,
  NOTIFICATION_CATEGORIES,
  readNotificationTarget,
  routeNotification,
  type DeviceServers,
  type NotificationActionId,
  type NotificationRoute,
  type NotificationTarget,
  type NotificationTopic,
} from './notification-routing.js';

const HOME = 'https://gate.example';
const OTHER = 'https://other.example/base';
const TARGET: NotificationTarget = {
  topic: 'user_action_request',
  serverUrl: OTHER,
  sessionId: 's1',
  requestId: 'r1',
  eventId: 'e1',
};
const destination = { serverUrl: OTHER, sessionId: 's1', requestId: 'r1' };

describe('Events 7 and 8: the target of a notification', () => {
  it.each<[string, DeviceServers, NotificationRoute]>([
    [
      '7: the active server opens the session',
      { active: OTHER, saved: [OTHER, HOME] },
      { step: 'open', destination },
    ],
    [
      '7: the active server, however it is written',
      { active: 'HTTPS://Other.example:443/base/', saved: [] },
      { step: 'open', destination },
    ],
    [
      '8: a saved server is switched to first',
      { active: HOME, saved: [HOME, `${OTHER}/`] },
      { step: 'switch-server', destination },
    ],
    [
      '8: a saved server, with none active',
      { active: null, saved: [OTHER] },
      { step: 'switch-server', destination },
    ],
    [
      '8: the first server of the device is bootstrapped',
      { active: null, saved: [] },
      { step: 'bootstrap-server', destination },
    ],
    [
      '8: another server is added with its address filled in',
      { active: HOME, saved: [HOME] },
      { step: 'add-server', prefilledUrl: OTHER, destination },
    ],
    [
      '8: the same host under another path is another server',
      { active: 'https://other.example', saved: [] },
      { step: 'add-server', prefilledUrl: OTHER, destination },
    ],
    [
      '8: other servers saved, none active',
      { active: null, saved: [HOME] },
      { step: 'add-server', prefilledUrl: OTHER, destination },
    ],
    [
      '8: an invalid saved address does not match',
      { active: 'other.example', saved: ['', 'x'] },
      { step: 'add-server', prefilledUrl: OTHER, destination },
    ],
  ])('%s', (_rule, device, expected) => {
    expect(routeNotification(TARGET, device)).toEqual(expected);
  });

  it('8: continues to the request once that server is added', () => {
    expect(continueAfterAdding(destination, `${OTHER}/`)).toEqual(destination);
  });

  it('8: opens nothing when another server was added instead', () => {
    expect(continueAfterAdding(destination, HOME)).toBeNull();
    expect(continueAfterAdding(destination, 'http://other.example/base')).toBeNull();
  });
});

describe(readNotificationTarget.name, () => {
  const data = { ...TARGET };

  it('reads the data that a sender adds to the text', () => {
    expect(readNotificationTarget({ ...data, serverUrl: `${OTHER}/`, more: 1 })).toEqual(TARGET);
  });

  it('returns no request of ready events, and none where it is missing', () => {
    const ready = readNotificationTarget({ ...data, topic: 'ready' });
    expect(ready).toMatchObject({ topic: 'ready', requestId: null });
    const { topic, serverUrl, sessionId } = data;
    expect(readNotificationTarget({ topic, serverUrl, sessionId })).toEqual({
      ...TARGET,
      requestId: null,
      eventId: null,
    });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['text', JSON.stringify(data)],
    ['no session', { ...data, sessionId: '' }],
    ['a session that is no text', { ...data, sessionId: { $ne: '' } }],
    ['no topic', { ...data, topic: undefined }],
    ['an unknown topic', { ...data, topic: 'ad' }],
    ['no server', { ...data, serverUrl: null }],
    ['a server that is a script', { ...data, serverUrl: 'javascript:alert(1)' }],
    ['a server with a password', { ...data, serverUrl: 'https://a:b@gate.example' }],
    ['a server with a query', { ...data, serverUrl: 'https://gate.example?x' }],
  ])('refuses %s', (_name, value) => {
    expect(readNotificationTarget(value)).toBeNull();
  });
});

const SERVER = 'https://gate.example';
const ACTIVE: DeviceServers = { active: SERVER, saved: [] };
const SAVED: DeviceServers = { active: 'https://a.example', saved: [`${SERVER}/`] };
const UNKNOWN: DeviceServers = { active: 'https://a.example', saved: ['https://a.example'] };
const EMPTY: DeviceServers = { active: null, saved: [] };

const target = (topic: NotificationTopic, requestId: string | null = 'r1'): NotificationTarget => ({
  topic,
  serverUrl: SERVER,
  sessionId: 's1',
  requestId,
  eventId: null,
});
const ANSWER = { serverUrl: SERVER, sessionId: 's1', requestId: 'r1' };

describe('Events 7: notification actions', () => {
  it.each<[NotificationTopic, string[]]>([
    ['permission_request', ['Allow', 'Deny']],
    ['user_action_request', ['Answer']],
    ['ready', []],
  ])('opens the app from each action of a %s: %j', (topic, titles) => {
    const actions = NOTIFICATION_CATEGORIES[topic]?.actions ?? [];
    expect(actions.map(({ title }) => title)).toEqual(titles);
    expect(actions.every(({ opensApp }) => opensApp)).toBe(true);
  });

  type Row = [
    string,
    NotificationActionId | null,
    NotificationTarget,
    DeviceServers,
    string,
    unknown,
  ];
  const permission = target('permission_request');

  it.each<Row>([
    ['Allow, active server', 'allow', permission, ACTIVE, 'open', 'allow'],
    ['Deny, active server', 'deny', permission, ACTIVE, 'open', 'deny'],
    ['Allow, saved server', 'allow', permission, SAVED, 'switch-server', 'allow'],
    ['Allow, unknown server', 'allow', permission, UNKNOWN, 'add-server', null],
    ['Deny, unknown server', 'deny', permission, UNKNOWN, 'add-server', null],
    ['Allow, no server yet', 'allow', permission, EMPTY, 'bootstrap-server', null],
    ['a tap decides nothing', null, permission, ACTIVE, 'open', null],
    ['Answer is given in the app', 'answer', target('user_action_request'), ACTIVE, 'open', null],
    ['Allow on a question', 'allow', target('user_action_request'), ACTIVE, 'open', null],
    ['Allow on a ready event', 'allow', target('ready', null), ACTIVE, 'open', null],
    ['Allow of no request', 'allow', target('permission_request', null), ACTIVE, 'open', null],
  ])('%s', (_name, pressed, to, device, step, decision) => {
    const { route, answer } = actOnNotification(pressed, to, device);
    expect(route).toMatchObject({ step, destination: { sessionId: 's1' } });
    expect(answer).toEqual(decision === null ? null : { ...ANSWER, decision });
  });
});
