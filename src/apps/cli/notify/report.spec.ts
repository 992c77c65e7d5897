import type { WebhookDelivery } from '../../../packages/notify/delivery/delivery.js';
import { describeLine, lineOfDelivery } from './report.js';

const delivery: WebhookDelivery = {
  kind: 'webhook',
  id: 'msg_1',
  channelId: 'chat',
  url: 'https://hooks.example/a',
  body: '{}',
  secrets: [],
  eventId: 'e1',
  topic: 'ready',
  createdAt: 1_790_000_000_000,
  expiresAt: 1_790_000_100_000,
  isPreview: false,
};

describe('a delivery that waits', () => {
  const textAt = (nextAt: number | null) =>
    describeLine(
      lineOfDelivery(delivery, { state: 'waiting', code: 'http-503', detail: 'Busy.', nextAt }),
    );

  it('is reported with the time of its next attempt', () => {
    expect(textAt(1_790_000_001_000)).toMatch(/^webhook chat {2}not yet: Busy\. Next try at 2026/);
  });

  it('is reported without a time where none is known', () => {
    expect(textAt(null)).toBe('webhook chat  not yet: Busy. (msg_1)');
  });
});
