import {
  actOnNotification,
  NOTIFICATION_CATEGORIES,
  type NotificationActionId,
} from './notification-actions.js';
import type { DeviceServers } from './notification-routing.js';
import type { NotificationTarget, NotificationTopic } from './notification-target.js';

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
  ])('a %s offers %j, each of which opens the app', (topic, titles) => {
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
