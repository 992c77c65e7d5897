import { resolve } from '../src/notify/notify.js';
import { WebhookSender } from '../src/notify/webhook/webhook.sender.js';
import { readNotificationTarget } from '../src/client/notifications/notification-routing.js';
import { SenderWorld } from './fakes/sender-world.js';
import { anEvent, aRequest, NOW, pushToken, saved, settingsWith } from './fakes/webhook-account.js';

const ONE_TRY = { delaysMs: [], random: () => 0 };

let world: SenderWorld;
let webhooks: WebhookSender;

beforeEach(async () => {
  world = await SenderWorld.start();
  webhooks = new WebhookSender({ now: () => NOW });
});

afterEach(async () => {
  await webhooks.close();
  await world.close();
});

describe(resolve.name, () => {
  const event = anEvent('permission_request', { request: aRequest({ command: 'rm -rf build' }) });
  const answer = (settings: unknown, later = 0) => {
    const senders = { push: world.push, webhooks };
    const options = { now: () => NOW + later, schedule: ONE_TRY };
    return resolve(event, { settings, tokens: saved('a', 'b') }, senders, options);
  };

  it('replaces what each device shows, silently', async () => {
    await world.send(event, settingsWith([]), saved('a', 'b'));
    const [asked] = world.service.accepted;
    const { outcomes } = await answer(settingsWith([]), 60_000);
    expect(outcomes.map(({ state }) => state)).toEqual(['sent', 'sent']);
    const replacing = world.service.accepted.slice(2);
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

  it('replaces the message of ntfy, and sends other webhooks nothing', async () => {
    const url = world.receiver.url;
    const settings = settingsWith(
      (['ntfy', 'generic', 'slack', 'discord'] as const).map((preset) => ({ url, preset })),
    );
    await world.send(event, settings);
    const bodies = () => world.receiver.received.map(({ rawBody }) => rawBody.toString());
    const asked = bodies().find((body) => body.includes('sequence_id')) ?? '{}';
    await answer(settings);
    expect(bodies()).toHaveLength(5);
    const { sequence_id } = JSON.parse(asked) as { sequence_id: string };
    expect(sequence_id).toMatch(/^[\w-]{1,64}$/);
    expect(world.receiver.json).toMatchObject({ topic: 'hook', sequence_id, priority: 1 });
  });

  it('sends nothing where push is switched off', async () => {
    const off = await answer(settingsWith([], { pushEnabled: false }));
    expect(off.outcomes).toEqual([]);
    expect(world.service.accepted).toEqual([]);
  });

  it('replaces what is shown also when its event no longer matters', async () => {
    const { outcomes } = await answer(settingsWith([]), 7_200_000);
    expect(outcomes.map(({ state }) => state)).toEqual(['sent', 'sent']);
    expect(world.service.accepted[0]?.ttl).toBe(3600);
  });
});
