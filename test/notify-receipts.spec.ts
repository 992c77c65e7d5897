import type { ExpoSender } from '../src/notify/push/expo.sender.js';
import { judgeReceipt, RECEIPT_LOST_AFTER_MS } from '../src/notify/push/push-results.js';
import { FakePushService } from './fakes/expo-push-service.js';
import { pushDeliveries, pushSender } from './fakes/sender-world.js';
import { NOW, pushToken } from './fakes/webhook-account.js';

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

const names = (count: number) => Array.from({ length: count }, (_, index) => `device-${index}`);

describe('Receipts', () => {
  async function ticketsFor(...some: string[]) {
    const results = await sender.attempt(pushDeliveries(...some));
    return results.map((result, index) => ({
      receiptId: (result.state === 'sent' ? result.receiptId : undefined) ?? '',
      token: pushToken(some[index] ?? ''),
      sentAt: NOW,
    }));
  }

  it('report the outcome of each message, by its id', async () => {
    const tickets = await ticketsFor('a', 'b', 'c', 'd');
    service.receiptProblems.set(pushToken('b'), { error: 'DeviceNotRegistered' });
    service.receiptProblems.set(pushToken('c'), null);
    service.receiptProblems.set(pushToken('d'), {
      error: 'DeviceNotRegistered',
      expoPushToken: pushToken('z'),
    });
    expect(await sender.receipts(tickets)).toEqual([
      { state: 'delivered' },
      expect.objectContaining({ code: 'device-not-registered', directive: 'delete-token' }),
      { state: 'pending' },
      expect.not.objectContaining({ directive: 'delete-token' }),
    ]);
  });

  it('are asked for 300 at a time', async () => {
    const tickets = await ticketsFor(...names(301));
    expect(await sender.receipts(tickets)).toEqual(Array(301).fill({ state: 'delivered' }));
    expect([...service.receiptBatches].sort((a, b) => a - b)).toEqual([1, 300]);
  });

  it('stay pending while the service cannot say', async () => {
    const tickets = await ticketsFor('a');
    service.faults.push({ kind: 'status', status: 503 });
    expect(await sender.receipts(tickets)).toEqual([{ state: 'pending' }]);
  });

  it('that are missing after a day will never come', () => {
    const ticket = { receiptId: 'r', token: pushToken('a'), sentAt: NOW };
    const later = (ms: number) => judgeReceipt(ticket, undefined, NOW + ms).state;
    expect(later(RECEIPT_LOST_AFTER_MS - 1)).toBe('pending');
    expect(later(RECEIPT_LOST_AFTER_MS)).toBe('lost');
  });
});
