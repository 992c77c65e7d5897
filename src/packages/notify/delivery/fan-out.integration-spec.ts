import { setTimeout as wait } from 'node:timers/promises';
import { deliver } from '../notify.js';
import type { WebhookDelivery } from './delivery.js';
import { readPreferences } from '../preferences.js';
import {
  deadUrl,
  deliverAll,
  senderWith,
  deliveriesTo,
  receiverThat,
  QUICK,
  closeAll,
} from '../../../../test/fixtures/webhook-fixture.js';
import { NOW, settingsWith } from '../../../../test/fixtures/notification-fixture.js';

afterEach(closeAll);

describe('Several webhooks', () => {
  it('sends to webhooks without waiting for a dead, a silent and a redirecting one', async () => {
    const [silent, redirecting, first, second] = await Promise.all([
      receiverThat(() => 'silence'),
      receiverThat(() => ({ status: 302, headers: { location: '/' } })),
      receiverThat(),
      receiverThat(),
    ]);
    const urls = [{ url: await deadUrl() }, silent, redirecting, first, second].map(({ url }) => ({
      url,
    }));
    const outcomes: string[] = [];
    let releaseSilent = (): void => undefined;
    const othersAreDone = new Promise<void>((done) => (releaseSilent = done));
    const all = senderWith({ timeoutMs: 60_000 });
    const webhooks = {
      attempt: async (delivery: WebhookDelivery) => {
        const result = await all.attempt(delivery);
        outcomes.push(`${delivery.channelId} ${result.state}`);
        if (outcomes.length === 4) {
          releaseSilent();
        }
        return result;
      },
    };
    const push = { attempt: () => Promise.resolve([]) };
    const schedule = { delaysMs: [], random: () => 0 };
    const running = deliver(
      deliveriesTo(...urls),
      { push, webhooks },
      { now: () => NOW, schedule },
    );
    await othersAreDone;
    expect(outcomes.sort()).toEqual([
      'channel-1 failed',
      'channel-3 failed',
      'channel-4 sent',
      'channel-5 sent',
    ]);
    await silent.close();
    expect(await running).toHaveLength(5);
  });

  it('sends to a bounded number of webhooks at a time', async () => {
    let atOnce = 0;
    let most = 0;
    let release = (): void => undefined;
    const fourAreThere = new Promise<void>((done) => (release = done));
    const receiver = await receiverThat(async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      if (atOnce === 4) {
        release();
      }
      await fourAreThere;
      await wait(5);
      atOnce -= 1;
      return { status: 204 };
    });
    const channels = Array.from({ length: 40 }, () => ({ url: receiver.url }));
    const outcomes = await deliverAll(deliveriesTo(...channels), QUICK, { concurrency: 4 });
    expect(outcomes.every(({ state }) => state === 'sent')).toBe(true);
    expect(most).toBe(4);
  });

  it('does not send a delivery that expired', async () => {
    const receiver = await receiverThat();
    const [delivery] = deliveriesTo({ url: receiver.url });
    const [outcome] = await deliverAll([{ ...delivery!, expiresAt: NOW }]);
    expect(outcome).toMatchObject({ state: 'suppressed', reason: 'expired' });
    expect(receiver.received).toEqual([]);
  });
});

describe('Presets', () => {
  const body = 'Bash needs your permission: <b> & "c"';
  const title = 'Permission needed: Fix the build';

  it.each([
    [
      'slack',
      '/hook',
      {
        text: `${title}\nBash needs your permission: &lt;b&gt; &amp; "c"`,
        mrkdwn: false,
        blocks: [
          { type: 'header', text: { type: 'plain_text', text: title, emoji: false } },
          {
            type: 'section',
            text: {
              ...{ type: 'plain_text', emoji: false },
              text: 'Bash needs your permission: &lt;b&gt; &amp; "c"',
            },
          },
        ],
        unfurl_links: false,
      },
    ],
    [
      'discord',
      '/hook?wait=true',
      {
        embeds: [{ title, description: body.replace('<', '\\<') }],
        allowed_mentions: { parse: [] },
      },
    ],
    [
      'ntfy',
      '/',
      {
        ...{ topic: 'hook', title, message: body, priority: 4 },
        sequence_id: expect.stringMatching(/^[\w-]{43}$/) as string,
      },
    ],
  ])('formats the body for %s', async (preset, path, json) => {
    const receiver = await receiverThat();
    await deliverAll(deliveriesTo({ url: receiver.url, preset }));
    expect(receiver.received.map((one) => one.path)).toEqual([path]);
    expect(receiver.json).toEqual(json);
  });

  it('skips a channel with an unknown preset, and sends to the others', async () => {
    const receiver = await receiverThat();
    const channels = [{ url: receiver.url, preset: 'fax' }, { url: receiver.url }];
    expect(readPreferences(settingsWith(channels)).problems).toEqual([
      { path: 'notificationChannelsV1[0]', message: expect.stringContaining('skipped') as string },
    ]);
    await deliverAll(deliveriesTo(...channels));
    expect(receiver.json['channelId']).toBe('channel-2');
  });
});
