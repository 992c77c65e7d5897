import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReceivedWebhook } from '../../fakes/webhook-receiver.js';
import { type Notifying, notifyInEachTest } from '../../fixtures/notify-fixture.js';

interface Check {
  readonly hop: string;
  readonly state: string;
  readonly words: string;
  readonly advice?: string;
}

const PHONE = 'ExponentPushToken[phone-one]';
const SECRET = 'a secret that both sides know';

// Each line starts a separate process, and the machine may be busy.

let fixture: Notifying;

await notifyInEachTest((one) => (fixture = one));

const inFile = async (name: string, content: string | Buffer): Promise<string> => {
  const file = join(fixture.user.home, name);
  await writeFile(file, content);
  return file;
};

/** Returns the checks of doctor for the hops whose names begin with `hop`. */
const examined = async (code: number, hop: string): Promise<Check[]> => {
  const [report] = await fixture.lines<{ checks: Check[] }>(code, 'notify', 'doctor');
  return (report?.checks ?? []).filter((check) => check.hop.startsWith(hop));
};

describe('gatehouse notify doctor', () => {
  it('sends a real test through every hop, and reports that each works', async () => {
    await fixture.registerToken(PHONE);
    const receiver = await fixture.webhook('here');
    const [report] = await fixture.ok<{ checks: Check[]; healthy: boolean }>('notify', 'doctor');
    expect(report?.healthy).toBe(true);
    const states = report?.checks.map(({ hop, state }) => `${hop.split(' ')[0]} ${state}`);
    expect(states).toEqual([
      'server ok',
      'settings ok',
      'previews ok',
      'tokens ok',
      'push ok',
      'webhook ok',
      'receipt ok',
      'spool ok',
    ]);
    expect(fixture.push.accepted.map(({ to }) => to)).toEqual([PHONE]);
    expect(receiver.received).toHaveLength(1);
  });

  it('reports a webhook that this computer does not permit, and the variable that does', async () => {
    const receiver = await fixture.webhook('here');
    const { code, stdout } = await fixture.user.run(['notify', 'doctor', '--json'], {
      ...fixture.env,
      GATEHOUSE_PRIVATE_HOSTS: '',
    });
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    expect(checks.find(({ hop }) => hop === 'webhook here')).toMatchObject({
      state: 'broken',
      advice: expect.stringContaining('GATEHOUSE_PRIVATE_HOSTS'),
    });
    expect(receiver.received).toEqual([]);
  });

  it('reports damaged files of the spool until they are deleted', async () => {
    await fixture.webhook('here');
    const folder = join(fixture.stateHome, 'gatehouse/spool/damaged');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'one.json'), '{');
    expect(await examined(1, 'spool')).toMatchObject([
      { hop: 'spool', state: 'ok' },
      { hop: 'spool damaged', state: 'broken', words: expect.stringContaining(folder) },
    ]);
    await rm(folder, { recursive: true });
    expect(await examined(0, 'spool')).toHaveLength(1);
  });

  it('reports a phone that is gone, and what to do', async () => {
    await fixture.registerToken(PHONE);
    fixture.push.ticketProblems.set(PHONE, { error: 'DeviceNotRegistered', expoPushToken: PHONE });
    const [push] = await examined(1, 'push ');
    expect(push).toMatchObject({
      state: 'broken',
      advice: expect.stringContaining('Open the app'),
    });
    expect(JSON.stringify(push)).not.toContain('phone-one');
  });

  it('reports a failure that only the receipt has', async () => {
    await fixture.registerToken(PHONE);
    fixture.push.receiptProblems.set(PHONE, { error: 'InvalidCredentials' });
    expect(await examined(1, 'push ')).toMatchObject([{ state: 'ok' }]);
    const [receipt] = await examined(1, 'receipt ');
    expect(receipt).toMatchObject({
      state: 'broken',
      advice: expect.stringContaining('credentials'),
    });
  });

  it('reports a receipt that is not known yet, without a failure', async () => {
    await fixture.registerToken(PHONE);
    fixture.push.receiptProblems.set(PHONE, null);
    expect(await examined(0, 'receipt ')).toMatchObject([
      { state: 'off', words: expect.stringContaining('--wait') },
    ]);
  });

  it('reports a push service that is unavailable', async () => {
    await fixture.registerToken(PHONE);
    await fixture.push.close();
    const [push] = await examined(1, 'push ');
    expect(push).toMatchObject({
      state: 'broken',
      advice: expect.stringContaining('EXPO_BASE_URL'),
    });
  });

  it('counts the deliveries that wait, and names a failure', async () => {
    const receiver = await fixture.webhook('here');
    await receiver.close();
    await fixture.notify(1, 'ready', '--session', 's1');
    const [spool] = await examined(1, 'spool');
    expect(spool?.words).toBe('1 delivery waits because: Nothing listens at the url.');
    await fixture.notify(1, 'ready', '--session', 's1');
    const [longer] = await examined(1, 'spool');
    expect(longer?.words).toBe('2 deliveries wait; one because: Nothing listens at the url.');
  });

  it('reports that no target is set up', async () => {
    const { code, stdout } = await fixture.run('notify', 'doctor');
    expect(code).toBe(1);
    expect(stdout).toContain('no app has saved a push token');
    expect(stdout).toContain('Nothing fails, but no notification is sent');
  });
});

it('verifies a genuine delivery with gatehouse webhook verify, and explains each refusal', async () => {
  const secretFile = await inFile('secret', SECRET);
  const receiver = await fixture.webhook('here', undefined, '--secret-file', secretFile);
  await fixture.notify(0, 'ready', '--session', 's1');
  const [delivery] = receiver.received as [ReceivedWebhook];
  const body = await inFile('body.json', delivery.rawBody);
  const verify = (...args: readonly string[]) =>
    fixture.user.run(['webhook', 'verify', ...args, '--json'], {
      GATEHOUSE_WEBHOOK_SECRET: SECRET,
    });
  const signed = ['--signature', delivery.headers['x-service-signature-256'] ?? ''];
  const { code, stdout } = await verify('--file', body, ...signed);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { valid: true }]);
  const standard = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].flatMap((name) => [
    '--header',
    `${name}: ${delivery.headers[name]}`,
  ]);
  expect(await verify('--file', body, ...standard)).toMatchObject({ code: 0 });

  const changed = await inFile('changed.json', `${delivery.rawBody.toString()} `);
  const other = await inFile('other', 'another secret');
  for (const args of [
    ['--file', changed, ...signed],
    ['--file', body, ...signed, '--secret-file', other],
  ]) {
    const refused = await verify(...args);
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([
      1,
      { valid: false, reason: 'wrong-signature' },
    ]);
  }
  const unsigned = await verify('--file', body);
  expect(JSON.parse(unsigned.stdout)).toEqual({ valid: false, reason: 'missing-signature' });

  const bare = await fixture.user.run(['webhook', 'verify', '--file', body]);
  expect(bare).toMatchObject({ code: 2, stderr: expect.stringContaining('--secret-file') });
  const nowhere = await verify('--file', `${body}.not-there`, ...signed);
  expect(nowhere.code).toBeGreaterThan(0);
  expect(nowhere.stderr).not.toMatch(/\n\s+at /);
});
