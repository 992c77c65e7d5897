import { deliver } from '../notify.js';
import type { AttemptResult, PushDelivery } from '../delivery/delivery.js';
import type { ExpoSender } from './expo.sender.js';
import { planNotification } from '../delivery/plan.js';
import { readPreferences } from '../preferences.js';
import { FakePushService } from '../../../../test/fakes/expo-push-service.js';
import { pushDeliveries, pushSender } from '../../../../test/fixtures/sender-fixture.js';
import {
  anEvent,
  aRequest,
  NOW,
  pushToken,
  saved,
} from '../../../../test/fixtures/notification-fixture.js';

let service: FakePushService;
let sender: ExpoSender;

beforeEach(async () => {
  service = await FakePushService.start();
  sender = pushSender(service);
});

afterEach(async () => {
  await sender.close();
  await service.close();
});

const codesOf = (results: readonly AttemptResult[]) =>
  results.map((result) => (result.state === 'failed' ? result.code : result.state));
const names = (count: number) => Array.from({ length: count }, (_, index) => `device-${index}`);
const noWebhooks = { attempt: () => Promise.reject(new Error('no webhook here')) };

describe('A push', () => {
  it('is sent in batches of at most 100, with results by position', async () => {
    service.ticketProblems.set(pushToken('device-150'), { error: 'InvalidCredentials' });
    const results = await sender.attempt(pushDeliveries(...names(250)));
    expect([...service.batches].sort((a, b) => a - b)).toEqual([50, 100, 100]);
    expect(results).toHaveLength(250);
    expect(codesOf(results).map((code, at) => (code === 'sent' ? null : [at, code]))).toEqual(
      names(250).map((_, at) => (at === 150 ? [150, 'invalid-credentials'] : null)),
    );
  });

  it('carries priority, time to live, channel, category and ids', async () => {
    await sender.attempt(pushDeliveries('a'));
    expect(service.accepted).toEqual([
      expect.objectContaining({
        to: pushToken('a'),
        title: 'Permission needed: Fix the build',
        subtitle: 'Bash',
        priority: 'high',
        ttl: 1800,
        sound: 'default',
        channelId: 'permission-requests',
        categoryId: 'permission_request',
        collapseId: expect.stringMatching(/^[\w-]{43}$/) as string,
      }),
    ]);
  });

  it('is sent again with the generic text where the service says that it is too large (Events 6)', async () => {
    const event = anEvent('permission_request', {
      request: aRequest({ command: 'x'.repeat(900) }),
    });
    const options = { now: NOW, requestPreviews: true };
    const plan = planNotification(event, readPreferences({}), saved('a', 'b'), options);
    const deliveries = plan.deliveries.filter((delivery) => delivery.kind === 'push');
    const [full] = deliveries;
    service.maxMessageBytes = 900;
    expect(codesOf(await sender.attempt(deliveries))).toEqual(['sent', 'sent']);
    expect(service.batches).toEqual([2, 2]);
    expect(service.accepted.map(({ to }) => to)).toEqual([pushToken('a'), pushToken('b')]);
    expect(service.accepted[0]).toMatchObject({
      title: 'Permission needed',
      body: 'Something needs your permission to go on.',
      data: full?.message.data,
      collapseId: full?.message.collapseId,
      priority: 'high',
    });
    expect(service.accepted[0]).not.toHaveProperty('subtitle');
    service.maxMessageBytes = 10;
    expect(codesOf(await sender.attempt(deliveries))).toEqual([
      'message-too-big',
      'message-too-big',
    ]);
    expect(service.batches).toEqual([2, 2, 2, 2]);
  });

  it('expires on the phone together with its event', async () => {
    const late = pushSender(service, { now: () => NOW + 1_790_000 });
    await late.attempt(pushDeliveries('a'));
    await late.close();
    expect(service.accepted[0]?.ttl).toBe(10);
  });

  it('sends the configured access token', async () => {
    service.accessToken = 'expo-secret';
    expect(codesOf(await sender.attempt(pushDeliveries('a')))).toEqual(['push-unauthorized']);
    const allowed = pushSender(service, { accessToken: 'expo-secret' });
    expect(codesOf(await allowed.attempt(pushDeliveries('a')))).toEqual(['sent']);
    await allowed.close();
  });

  it('splits a batch that belongs to several projects', async () => {
    service.projects.set(pushToken('b'), '@other/app');
    expect(codesOf(await sender.attempt(pushDeliveries('a', 'b', 'c')))).toEqual([
      'sent',
      'sent',
      'sent',
    ]);
    expect(service.accepted.map(({ to }) => to).sort()).toEqual(['a', 'b', 'c'].map(pushToken));
  });

  it('is sent to several projects at the same time, so that a slow one delays no other', async () => {
    service.projects.set(pushToken('b'), '@other/app');
    let arrived = 0;
    let release: () => void = () => undefined;
    const bothArrived = new Promise<void>((done) => (release = done));
    service.hold = async ({ length }) => {
      arrived += Number(length === 1);
      if (arrived === 2) {
        release();
      }
      await (length === 1 ? bothArrived : undefined);
    };
    const hasty = pushSender(service, { timeoutMs: 2_000 });
    const results = await hasty.attempt(pushDeliveries('a', 'b'));
    await hasty.close();
    expect(codesOf(results)).toEqual(['sent', 'sent']);
  });

  it('is not sent to an invalid push token', () => {
    const tokens = [{ token: 'fcm:abc', clientServerUrl: null }];
    const plan = planNotification(anEvent('ready'), readPreferences({}), tokens, { now: NOW });
    expect(plan.deliveries).toEqual([]);
    expect(plan.outcomes[0]).toMatchObject({ state: 'failed', code: 'malformed-token' });
  });
});

describe('Tickets', () => {
  it.each([
    ['DeviceNotRegistered', 'device-not-registered', false],
    ['MessageTooBig', 'message-too-big', false],
    ['MessageRateExceeded', 'message-rate-exceeded', true],
    ['MismatchSenderId', 'mismatch-sender-id', false],
    ['InvalidCredentials', 'invalid-credentials', false],
    ['DeveloperError', 'developer-error', false],
    ['ExpoError', 'push-service-error', true],
    ['ProviderError', 'provider-error', true],
    ['SomethingNew', 'push-refused', false],
    ['toString', 'push-refused', false],
  ])('maps the ticket error %s to %s', async (error, code, isTemporary) => {
    service.ticketProblems.set(pushToken('a'), { error });
    const [result, other] = await sender.attempt(pushDeliveries('a', 'b'));
    expect(result).toMatchObject({ state: 'failed', code, isTemporary });
    expect(other).toMatchObject({ state: 'sent' });
  });

  it('requests the removal of a token only on DeviceNotRegistered for that token', async () => {
    const gone = { error: 'DeviceNotRegistered' };
    service.ticketProblems.set(pushToken('a'), gone);
    service.ticketProblems.set(pushToken('b'), { ...gone, expoPushToken: pushToken('b') });
    service.ticketProblems.set(pushToken('c'), { ...gone, expoPushToken: pushToken('z') });
    service.ticketProblems.set(pushToken('d'), { error: 'InvalidCredentials' });
    const results = await sender.attempt(pushDeliveries('a', 'b', 'c', 'd', 'e'));
    const directives = results.map(({ directive }) => directive);
    expect(directives).toEqual(['delete-token', 'delete-token', undefined, undefined, undefined]);
    expect(codesOf(results)[2]).toBe('tickets-do-not-match');
  });

  it.each(['fewer-tickets', 'no-tickets'] as const)(
    'assigns tickets to no message when their number differs: %s',
    async (kind) => {
      service.ticketProblems.set(pushToken('b'), { error: 'DeviceNotRegistered' });
      service.faults.push({ kind });
      const results = await sender.attempt(pushDeliveries('a', 'b', 'c'));
      expect(codesOf(results)).toEqual(Array(3).fill('tickets-do-not-match'));
      expect(results.some(({ directive }) => directive !== undefined)).toBe(false);
      expect(results.some((result) => 'isTemporary' in result && result.isTemporary)).toBe(false);
    },
  );
});

describe('A push service with a fault', () => {
  const deliverNow = (deliveries: PushDelivery[]) =>
    deliver(
      deliveries,
      { push: sender, webhooks: noWebhooks },
      { now: () => NOW, schedule: { delaysMs: [1, 1], random: () => 0 } },
    );

  it('is called again on 429, first by its SDK and then by the schedule', async () => {
    const fault = { kind: 'status', status: 429, code: 'TOO_MANY_REQUESTS' } as const;
    service.faults.push(fault, fault, fault, fault);
    const [outcome] = await deliverNow(pushDeliveries('a'));
    expect(outcome).toMatchObject({ state: 'sent', attempts: 2 });
    expect(service.batches).toHaveLength(5);
    expect(service.accepted).toHaveLength(1);
  });

  it.each([
    [{ kind: 'status', status: 500 }, 2],
    [{ kind: 'status', status: 502 }, 2],
    [{ kind: 'status', status: 503 }, 2],
    [{ kind: 'portal' }, 2],
    [{ kind: 'accept-then-504' }, 2],
    [{ kind: 'accept-then-cut' }, 2],
  ] as const)('is called again after %j', async (fault, attempts) => {
    service.faults.push(fault);
    expect(await deliverNow(pushDeliveries('a'))).toMatchObject([{ state: 'sent', attempts }]);
  });

  it('is called again when its answer was lost, and the phone shows only one of both', async () => {
    service.faults.push({ kind: 'accept-then-504' });
    await deliverNow(pushDeliveries('a'));
    const [first, second] = service.accepted;
    expect(service.accepted).toHaveLength(2);
    expect([second?.collapseId, second?.tag]).toEqual([first?.collapseId, first?.tag]);
  });

  it.each([400, 403, 404])('is not called again after %d', async (status) => {
    service.faults.push({ kind: 'status', status });
    const [outcome] = await deliverNow(pushDeliveries('a'));
    expect(outcome).toMatchObject({ state: 'failed', attempts: 1, code: `push-http-${status}` });
    expect(service.batches).toHaveLength(1);
  });

  it('receives again only the messages that failed', async () => {
    service.ticketProblems.set(pushToken('b'), { error: 'MessageRateExceeded' });
    const outcomes = await deliverNow(pushDeliveries('a', 'b'));
    expect(service.batches).toEqual([2, 1, 1]);
    expect(outcomes).toMatchObject([
      { state: 'sent', attempts: 1 },
      { state: 'failed', attempts: 3, code: 'message-rate-exceeded' },
    ]);
  });

  it('is given up in time when it does not answer', async () => {
    const hasty = pushSender(service, { timeoutMs: 50 });
    service.faults.push({ kind: 'silence' });
    const [result] = await hasty.attempt(pushDeliveries('a'));
    await hasty.close();
    expect(result).toMatchObject({ state: 'failed', code: 'push-unreachable', isTemporary: true });
  });

  it.each([
    [{ kind: 'endless-answer' }, 300],
    [{ kind: 'inflated-answer', bytes: 8 * 1024 * 1024 }, 30_000],
  ] as const)('is given up after %j', async (fault, timeoutMs) => {
    const bounded = pushSender(service, { timeoutMs });
    service.faults.push(fault);
    const [result] = await bounded.attempt(pushDeliveries('a'));
    await bounded.close();
    expect(result).toMatchObject({ code: 'push-unreachable', isTemporary: true });
  });

  it('is reported, and called again, where its list of errors is empty', async () => {
    service.faults.push({ kind: 'no-errors' });
    expect(await sender.attempt(pushDeliveries('a'))).toMatchObject([
      {
        code: 'push-answer-unreadable',
        detail: 'The answer of the push service has neither tickets nor a reason.',
        isTemporary: true,
      },
    ]);
  });

  it('receives a message once if it sends “100 Continue” without being asked', async () => {
    service.faults.push({ kind: 'accept-after-continue' });
    expect(await deliverNow(pushDeliveries('a'))).toMatchObject([{ state: 'sent', attempts: 1 }]);
    expect(service.accepted).toHaveLength(1);
  });

  it('is a temporary failure when unreachable, reported without any token', async () => {
    await service.close();
    const [result] = await sender.attempt(pushDeliveries('a'));
    expect(result).toMatchObject({ code: 'push-unreachable', isTemporary: true });
    expect(JSON.stringify(result)).not.toContain('PushToken');
    service = await FakePushService.start();
  });
});
