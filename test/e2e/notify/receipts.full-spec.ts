import { Notifying, startPlainServer } from '../../fixtures/notify-fixture.js';

const [GONE, OTHER, FINE] = ['gone', 'other', 'fine'].map((name) => `ExponentPushToken[${name}]`);

const server = await startPlainServer();
const fixture = await Notifying.start(server);

afterAll(async () => {
  await fixture.stop();
  await server.stop();
});

describe('gatehouse notify receipts', () => {
  it('requests receipts after 15 minutes, and removes only the tokens that they name', async () => {
    const tokens = [GONE ?? '', OTHER ?? '', FINE ?? ''];
    for (const token of tokens) {
      await fixture.registerToken(token);
    }
    fixture.push.receiptProblems.set(GONE ?? '', { error: 'DeviceNotRegistered' });
    const named = { error: 'DeviceNotRegistered', expoPushToken: 'ExponentPushToken[elsewhere]' };
    fixture.push.receiptProblems.set(OTHER ?? '', named);
    await fixture.notify(0, 'ready', '--session', 's1');
    const [early] = await fixture.ok('notify', 'receipts');
    expect(early).toEqual({ receipts: [], waiting: 3 });
    expect(fixture.push.receiptBatches).toEqual([]);
    fixture.letTimePass();
    const [late] = await fixture.lines<{ receipts: { state: string }[] }>(1, 'notify', 'receipts');
    expect(late?.receipts.map(({ state }) => state).sort()).toEqual([
      'delivered',
      'failed',
      'failed',
    ]);
    const left = await fixture.ok<{ token: string }>('tokens', 'list');
    expect(left.map(({ token }) => token).sort()).toEqual([FINE, OTHER]);
    expect(await fixture.ok('notify', 'receipts')).toEqual([{ receipts: [], waiting: 0 }]);
  });

  it('sends the generic text when a receipt reports that the message was too large', async () => {
    fixture.push.accepted.length = 0;
    fixture.push.receiptProblems.set(FINE ?? '', { error: 'MessageTooBig' });
    const request = ['--session', 's3', '--request', 'r1', '--tool', 'Bash'];
    await fixture.notify(0, 'permission-request', ...request, '--command', 'npm test');
    expect(fixture.push.accepted.map(({ body }) => body)).toContain(
      'Bash needs your permission: npm test',
    );
    fixture.push.accepted.length = 0;
    fixture.letTimePass();
    const [answer] = await fixture.lines<{ receipts: object[] }>(1, 'notify', 'receipts');
    expect(answer?.receipts).toContainEqual(
      expect.objectContaining({ state: 'failed', code: 'message-too-big', generic: 'sent' }),
    );
    expect(fixture.push.accepted).toEqual([
      expect.objectContaining({ to: FINE, body: 'Something needs your permission to go on.' }),
    ]);
    fixture.push.receiptProblems.delete(FINE ?? '');
    fixture.letTimePass();
    const [again] = await fixture.ok<{ receipts: object[] }>('notify', 'receipts');
    expect(again?.receipts).toEqual([expect.objectContaining({ state: 'delivered' })]);
  });

  it('requests a receipt again later when it is not known yet', async () => {
    fixture.push.receiptProblems.set(FINE ?? '', null);
    await fixture.notify(0, 'ready', '--session', 's2');
    fixture.letTimePass();
    const [answer] = await fixture.lines<{ waiting: number }>(1, 'notify', 'receipts');
    expect(answer).toMatchObject({ waiting: 1 });
  });
});
