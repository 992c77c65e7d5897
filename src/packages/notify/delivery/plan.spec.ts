import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { formatWebPushToken } from '../../client/notifications/web-push.js';
import { deliver } from '../notify.js';
import type { AttemptResult } from './delivery.js';
import { planNotification, renewDelivery } from './plan.js';
import { readPreferences } from '../preferences.js';
import { nextAttemptAt, RETRY_DELAYS_MS } from './attempt.js';
import { ENGLISH } from '../content/content.js';
import {
  anEvent,
  aRequest,
  NOW,
  pushToken,
  saved,
  settingsWith,
} from '../../../../test/fixtures/notification-fixture.js';

const URL_OK = 'https://hook.example/';

describe(planNotification.name, () => {
  const plan = (settings: unknown, options: object = {}) =>
    planNotification(anEvent('ready'), readPreferences(settings), saved('a'), {
      now: NOW,
      ...options,
    });

  it('gives every target one outcome, and reports when there is no target', () => {
    expect(plan(settingsWith([], { pushEnabled: false })).outcomes).toMatchObject([
      { state: 'suppressed', reason: 'push-disabled' },
      { target: { kind: 'webhook', id: null }, state: 'no-target' },
    ]);
    const empty = planNotification(anEvent('ready'), readPreferences({}), [], { now: NOW });
    expect(empty.outcomes.map(({ state }) => state)).toEqual(['no-target', 'no-target']);
  });

  it('plans nothing for an expired event', () => {
    const late = plan({}, { now: NOW + 60_000, ttlSeconds: { ready: 60 } });
    expect(late.deliveries).toEqual([]);
    expect(late.outcomes[0]).toMatchObject({ state: 'suppressed', reason: 'expired' });
  });

  it('gives a delivery the same id each time its event is planned, and each target a separate one', () => {
    const settings = settingsWith([{ url: URL_OK }, { url: URL_OK }]);
    const ids = () => plan(settings).deliveries.map(({ id }) => id);
    expect(ids()).toEqual(ids());
    expect(new Set(ids()).size).toBe(3);
    expect(ids().every((id) => /^msg_[\w-]+$/.test(id))).toBe(true);
  });

  it('distinguishes events of two servers with one id, and channels of two accounts with one id', () => {
    const preferences = readPreferences(settingsWith([{ id: 'hook', url: URL_OK }]));
    const ids = ['https://a.example', 'https://b.example'].flatMap((serverUrl) => {
      const event = { ...anEvent('ready'), serverUrl };
      return ['a', 'b'].flatMap(
        (accountId) => planNotification(event, preferences, [], { now: NOW, accountId }).deliveries,
      );
    });
    expect(new Set(ids.map(({ id }) => id)).size).toBe(4);
  });

  it('uses the given messages', () => {
    const genericBody = { ...ENGLISH.genericBody, ready: 'Fertig.' };
    const [delivery] = plan({}, { templates: { ...ENGLISH, genericBody } }).deliveries;
    expect(delivery).toMatchObject({ message: { body: 'Fertig.' } });
  });
});

describe('receivers that a device with the key confirmed', () => {
  const browser = formatWebPushToken({
    endpoint: 'https://push.example/1',
    keys: {
      p256dh: Buffer.concat([Buffer.from([4]), Buffer.alloc(64)]).toString('base64url'),
      auth: Buffer.alloc(16).toString('base64url'),
    },
  })!;
  const key = { publicKey: 'public', privateKey: 'private' };
  const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');
  const event = anEvent('permission_request', {
    session: { sessionId: 'ses-1', title: 'Secret project' },
    request: aRequest({ command: 'cat /secret' }),
  });
  const tokens = [...saved('mine', 'other'), { token: browser, clientServerUrl: null }];
  const preferencesWith = (receivers: unknown) => ({
    ...readPreferences({ receivers }),
    webPushKey: key,
  });
  const planFor = (receivers: unknown) =>
    planNotification(event, preferencesWith(receivers), tokens, {
      now: NOW,
      requestPreviews: true,
    }).deliveries;

  it('sends text to them alone, and to the others the generic one with all routing and actions', () => {
    const [mine, other, web] = planFor([hashOf(pushToken('mine'))]);
    expect(mine).toMatchObject({
      message: { title: 'Permission needed: Secret project', subtitle: 'Bash' },
    });
    expect(JSON.stringify([other, web])).not.toMatch(/ecret|Bash/);
    const { genericBody } = ENGLISH;
    expect(other).toMatchObject({
      isPreview: false,
      message: {
        title: 'Permission needed',
        body: genericBody.permissionRequest,
        categoryId: 'permission_request',
        data: { sessionId: 'ses-1', requestId: 'req-1', topic: 'permission_request' },
      },
    });
    expect(JSON.parse(web?.kind === 'web-push' ? web.message.text : '')).toMatchObject({
      title: 'Permission needed',
      body: genericBody.permissionRequest,
      target: { sessionId: 'ses-1', requestId: 'req-1' },
    });
  });

  it('sends text to all until the first is confirmed, and to none where the list is damaged', () => {
    const texts = (receivers: unknown) =>
      planFor(receivers).map((one) => JSON.stringify(one).includes('cat /secret'));
    expect(texts(undefined)).toEqual([true, true, true]);
    expect(texts([])).toEqual([false, false, false]);
    expect(texts('all')).toEqual([false, false, false]);
    expect(preferencesWith('all').problems).toMatchObject([{ path: 'receivers' }]);
  });

  it('removes the text of a waiting delivery to a receiver that is no longer confirmed', () => {
    const waiting = planFor([pushToken('mine'), browser].map(hashOf));
    const preferences = preferencesWith([]);
    const renewed = waiting.map((delivery) => renewDelivery(delivery, preferences, tokens));
    expect(JSON.stringify(waiting)).toContain('cat /secret');
    expect(JSON.stringify(renewed)).not.toMatch(/ecret|Bash/);
    expect(renewed).toMatchObject([{ kind: 'push' }, { kind: 'push' }, { kind: 'web-push', key }]);
  });
});

describe(nextAttemptAt.name, () => {
  const [delivery] = planNotification(anEvent('ready'), readPreferences({}), saved('a'), {
    now: NOW,
  }).deliveries;
  const failed = { state: 'failed', code: 'x', detail: 'x', isTemporary: true } as const;
  const schedule = { delaysMs: [1_000, 8_000], random: () => 0 };
  const next = (result: AttemptResult, attempts = 1, random = () => 0) =>
    nextAttemptAt(delivery!, result, attempts, NOW, { ...schedule, random });

  it.each<[string, number | null, number | null]>([
    ['waits for the first delay of the schedule', next(failed), NOW + 1_000],
    ['waits for a later delay of the schedule', next(failed, 2), NOW + 8_000],
    ['adds jitter', next(failed, 1, () => 0.5), NOW + 1_125],
    ['ends with the schedule', next(failed, 3), null],
    ['does not repeat a sent delivery', next({ state: 'sent' }), null],
    ['does not repeat a permanent failure', next({ ...failed, isTemporary: false }), null],
    ['obeys Retry-After', next({ ...failed, retryAfterMs: 30_000 }), NOW + 30_000],
    [
      'keeps the schedule with a shorter Retry-After',
      next({ ...failed, retryAfterMs: 0 }),
      NOW + 1_000,
    ],
    [
      'ends when Retry-After is after the expiry of the event',
      next({ ...failed, retryAfterMs: 9e9 }),
      null,
    ],
  ])('%s', (_name, actual, expected) => {
    expect(actual).toBe(expected);
  });

  it('delays a delivery for at most an hour', () => {
    const lasting = { ...delivery!, expiresAt: NOW + 1e12 };
    const result = { ...failed, retryAfterMs: 9e9 };
    expect(nextAttemptAt(lasting, result, 1, NOW, schedule)).toBe(NOW + 3_600_000);
  });

  it('increases the delay with each attempt', () => {
    expect([...RETRY_DELAYS_MS].sort((a, b) => a - b)).toEqual(RETRY_DELAYS_MS);
  });
});

describe(deliver.name, () => {
  it('stops waiting when it is aborted', async () => {
    const { deliveries } = planNotification(anEvent('ready'), readPreferences({}), saved('a'), {
      now: NOW,
    });
    const stop = new AbortController();
    const result = { state: 'failed', code: 'x', detail: 'x', isTemporary: true } as const;
    let tries = 0;
    const attempt = () => {
      tries += 1;
      void setImmediate().then(() => stop.abort());
      return Promise.resolve([result]);
    };
    const senders = { push: { attempt }, webhooks: { attempt: () => Promise.resolve(result) } };
    const schedule = { delaysMs: [60_000], random: () => 0 };
    const options = { now: () => NOW, schedule, signal: stop.signal };
    expect(await deliver(deliveries, senders, options)).toMatchObject([
      { state: 'failed', attempts: 1 },
    ]);
    expect(tries).toBe(1);
  });

  it('waits for many webhooks with one listener of the signal', async () => {
    const stop = new AbortController();
    const delivery = { kind: 'webhook', id: 'one', expiresAt: NOW + 120_000 };
    const deliveries = Array.from({ length: 20 }, () => ({ ...delivery, channel: { id: 'one' } }));
    const result = { state: 'failed', code: 'x', detail: 'x', isTemporary: true } as const;
    const senders = {
      push: { attempt: () => Promise.resolve([]) },
      webhooks: { attempt: () => Promise.resolve(result) },
    };
    const schedule = { delaysMs: [60_000], random: () => 0 };
    const options = { now: () => NOW, schedule, signal: stop.signal };
    const delivered = deliver(deliveries as never, senders, options);
    await setImmediate();
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    stop.abort();
    expect(await delivered).toHaveLength(20);
  });
});
