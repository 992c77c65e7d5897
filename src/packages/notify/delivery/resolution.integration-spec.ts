import { notify, resolve } from '../notify.js';
import { WebhookSender } from '../webhook/webhook.sender.js';
import { readNotificationTarget } from '../../client/notifications/notification-routing.js';
import { DiscordWebhooks } from '../../../../test/fakes/discord-webhooks.js';
import { SenderFixture } from '../../../../test/fixtures/sender-fixture.js';
import {
  anEvent,
  aRequest,
  NOW,
  pushToken,
  saved,
  settingsWith,
} from '../../../../test/fixtures/notification-fixture.js';

const ONE_TRY = { delaysMs: [], random: () => 0 };

let fixture: SenderFixture;
let webhooks: WebhookSender;

beforeEach(async () => {
  fixture = await SenderFixture.start();
  webhooks = new WebhookSender({ now: () => NOW, privateHosts: ['127.0.0.1'] });
});

afterEach(async () => {
  await webhooks.close();
  await fixture.close();
});

describe(resolve.name, () => {
  const event = anEvent('permission_request', { request: aRequest({ command: 'rm -rf build' }) });
  const answer = (settings: unknown, later = 0) => {
    const senders = { push: fixture.push, webhooks };
    const options = { now: () => NOW + later, schedule: ONE_TRY };
    return resolve(event, { settings, tokens: saved('a', 'b') }, senders, options);
  };

  it('replaces the shown message on each device, silently', async () => {
    await fixture.send(event, settingsWith([]), saved('a', 'b'));
    const [asked] = fixture.service.accepted;
    const { outcomes } = await answer(settingsWith([]), 60_000);
    expect(outcomes.map(({ state }) => state)).toEqual(['sent', 'sent']);
    const replacing = fixture.service.accepted.slice(2);
    expect(replacing.map(({ to }) => to)).toEqual([pushToken('a'), pushToken('b')]);
    const [shown] = replacing;
    expect(shown).toMatchObject({
      title: 'Answered',
      collapseId: asked?.collapseId,
      tag: asked?.tag,
      sound: null,
      priority: 'default',
      interruptionLevel: 'passive',
      channelId: 'resolved',
    });
    expect(JSON.stringify(shown)).not.toContain('rm -rf');
    for (const field of ['subtitle', 'categoryId']) {
      expect(shown).not.toHaveProperty(field);
    }
    const target = readNotificationTarget(shown?.data);
    expect(target).toMatchObject({ sessionId: 'ses-1', requestId: 'req-1', isResolved: true });
  });

  it('replaces the message of ntfy, and sends nothing to other webhooks', async () => {
    const url = fixture.receiver.url;
    const settings = settingsWith(
      (['ntfy', 'generic', 'slack', 'discord'] as const).map((preset) => ({ url, preset })),
    );
    await fixture.send(event, settings);
    const bodies = () => fixture.receiver.received.map(({ rawBody }) => rawBody.toString());
    const asked = bodies().find((body) => body.includes('sequence_id')) ?? '{}';
    await answer(settings);
    expect(bodies()).toHaveLength(5);
    const { sequence_id } = JSON.parse(asked) as { sequence_id: string };
    expect(sequence_id).toMatch(/^[\w-]{1,64}$/);
    expect(fixture.receiver.json).toMatchObject({ topic: 'hook', sequence_id, priority: 1 });
  });

  it('replaces the message of Discord that a delivery made, where its id is given', async () => {
    const discord = await DiscordWebhooks.start();
    try {
      const settings = settingsWith([{ url: `${discord.url}?thread_id=7`, preset: 'discord' }]);
      const senders = { push: fixture.push, webhooks };
      const options = { now: () => NOW, schedule: ONE_TRY };
      const account = { settings, tokens: [] };
      const { outcomes } = await notify(event, account, senders, options);
      const sent = outcomes.find(({ target }) => target.kind === 'webhook');
      const { deliveryId, messageId = '' } = sent as { deliveryId: string; messageId?: string };
      expect([...discord.messages.keys()]).toEqual([messageId]);
      expect(discord.messages.get(messageId)?.description).toContain('rm -rf build');
      await resolve(event, account, senders, options);
      expect(discord.messages.get(messageId)?.title).not.toBe('Answered');
      const messageIds = { [deliveryId]: messageId };
      const resolved = await resolve(event, account, senders, { ...options, messageIds });
      expect(resolved.outcomes).toMatchObject([{ state: 'sent', attempts: 1 }]);
      expect([...discord.messages]).toEqual([
        [messageId, { title: 'Answered', description: expect.any(String) }],
      ]);
      // The message was deleted by hand, so no message is left to replace.
      discord.messages.clear();
      const again = await resolve(event, account, senders, { ...options, messageIds });
      expect(again.outcomes).toMatchObject([{ state: 'sent' }]);
      expect(discord.messages.size).toBe(0);
    } finally {
      await discord.close();
    }
  });

  it('sends nothing where push is switched off', async () => {
    const off = await answer(settingsWith([], { pushEnabled: false }));
    expect(off.outcomes).toEqual([]);
    expect(fixture.service.accepted).toEqual([]);
  });

  it('replaces the shown message even if its event has expired', async () => {
    const { outcomes } = await answer(settingsWith([]), 7_200_000);
    expect(outcomes.map(({ state }) => state)).toEqual(['sent', 'sent']);
    expect(fixture.service.accepted[0]?.ttl).toBe(3600);
  });
});
