import type { ExpoSender } from './expo.sender.js';
import { judgeReceipt, judgeTicket, RECEIPT_LOST_AFTER_MS } from './push-results.js';
import { FakePushService } from '../../../../test/fakes/expo-push-service.js';
import { pushDeliveries, pushSender } from '../../../../test/fixtures/sender-fixture.js';
import { NOW, pushToken } from '../../../../test/fixtures/notification-fixture.js';

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

  it('reports the outcome of each message, by its id', async () => {
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

  it('requests receipts 300 at a time', async () => {
    const tickets = await ticketsFor(...names(301));
    expect(await sender.receipts(tickets)).toEqual(Array(301).fill({ state: 'delivered' }));
    expect([...service.receiptBatches].sort((a, b) => a - b)).toEqual([1, 300]);
  });

  it('keeps receipts pending while the service does not answer', async () => {
    const tickets = await ticketsFor('a');
    service.faults.push({ kind: 'status', status: 503 });
    expect(await sender.receipts(tickets)).toEqual([{ state: 'pending' }]);
  });

  it('requests no receipt for an id that is too long to store', () => {
    const result = judgeTicket({ status: 'ok', id: 'x'.repeat(70_000) }, pushToken('a'));
    expect(result).toEqual({ state: 'sent' });
  });

  it('treats receipts as lost that are missing after a day', () => {
    const ticket = { receiptId: 'r', token: pushToken('a'), sentAt: NOW };
    const later = (ms: number) => judgeReceipt(ticket, undefined, NOW + ms).state;
    expect(later(RECEIPT_LOST_AFTER_MS - 1)).toBe('pending');
    expect(later(RECEIPT_LOST_AFTER_MS)).toBe('lost');
  });
});
