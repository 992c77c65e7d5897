import {
  continueAfterAdding,
  routeNotification,
  type DeviceServers,
  type NotificationRoute,
} from './notification-routing.js';
import { readNotificationTarget, type NotificationTarget } from './notification-target.js';

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

describe('Events 7 and 8: where a notification leads', () => {
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
      '8: a saved address that is none is no match',
      { active: 'other.example', saved: ['', 'x'] },
      { step: 'add-server', prefilledUrl: OTHER, destination },
    ],
  ])('%s', (_rule, device, expected) => {
    expect(routeNotification(TARGET, device)).toEqual(expected);
  });

  it('8: goes on to the request once that server is added', () => {
    expect(continueAfterAdding(destination, `${OTHER}/`)).toEqual(destination);
  });

  it('8: goes nowhere when another server was added instead', () => {
    expect(continueAfterAdding(destination, HOME)).toBeNull();
    expect(continueAfterAdding(destination, 'http://other.example/base')).toBeNull();
  });
});

describe(readNotificationTarget.name, () => {
  const data = { ...TARGET };

  it('reads what a sender puts beside the text', () => {
    expect(readNotificationTarget({ ...data, serverUrl: `${OTHER}/`, more: 1 })).toEqual(TARGET);
  });

  it('has no request in ready events, and may lack one', () => {
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
    ['a topic nobody knows', { ...data, topic: 'ad' }],
    ['no server', { ...data, serverUrl: null }],
    ['a server that is a script', { ...data, serverUrl: 'javascript:alert(1)' }],
    ['a server with a password', { ...data, serverUrl: 'https://a:b@gate.example' }],
    ['a server with a query', { ...data, serverUrl: 'https://gate.example?x' }],
  ])('refuses %s', (_name, value) => {
    expect(readNotificationTarget(value)).toBeNull();
  });
});
