import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DiscordWebhooks } from '../../fakes/discord-webhooks.js';
import { waitFor } from '../../helpers/wait.js';
import type { ReceiverBehaviour } from '../../fakes/webhook-receiver.js';
import { type Notifying, notifyInEachTest, type EventLine } from '../../fixtures/notify-fixture.js';

const TOKEN = 'ExponentPushToken[resolve]';
const REQUEST = [
  'permission-request',
  '--session',
  's1',
  '--tool',
  'Bash',
  '--command',
  'npm test',
];

interface Resolved {
  readonly dropped: readonly string[];
  readonly outcomes: readonly { readonly state: string }[];
}

let fixture: Notifying;

await notifyInEachTest((one) => (fixture = one));

const resolve = async (id: string): Promise<Resolved> => {
  const [line] = await fixture.ok<Resolved>(
    'notify',
    'resolve',
    '--request',
    id,
    '--no-background',
  );
  return line ?? { dropped: [], outcomes: [] };
};

describe('gatehouse notify resolve', () => {
  it('drops waiting deliveries, and replaces what phones and ntfy show, once', async () => {
    await fixture.registerToken(TOKEN);
    const dead = await fixture.webhook('dead', () => ({ status: 503 }));
    const ntfy = await fixture.webhook('ntfy', undefined, '--preset', 'ntfy');
    await fixture.notify(1, ...REQUEST, '--request', 'r1');
    await fixture.notify(1, ...REQUEST, '--request', 'r2');
    expect(fixture.push.accepted).toHaveLength(2);
    expect(await resolve('r1')).toMatchObject({
      dropped: [expect.stringMatching(/^msg_/)],
      outcomes: [{ state: 'sent' }, { state: 'sent' }],
    });
    const [question, other, answered] = fixture.push.accepted;
    expect(answered).toMatchObject({
      to: TOKEN,
      title: 'Answered',
      tag: question?.tag,
      sound: null,
    });
    expect(other?.tag).not.toBe(question?.tag);
    expect(ntfy.received).toHaveLength(3);
    expect(ntfy.json).toMatchObject({ title: 'Answered', priority: 1 });
    expect(await resolve('r1')).toMatchObject({ dropped: [] });
    expect(fixture.push.accepted).toHaveLength(3);
    const tries = dead.received.length;
    await fixture.run('notify', 'flush');
    const list = await fixture.ok<{ state: string }>('deliveries', 'list');
    const states = list.map(({ state }) => state);
    // The dead webhook of r2 still waits, and the one of r1 was dropped.
    expect(states.filter((state) => state === 'waiting').length).toBeGreaterThanOrEqual(1);
    expect(states.filter((state) => state === 'dropped')).toHaveLength(1);
    expect(dead.received.length - tries).toBeLessThanOrEqual(1);
  });

  it('stops the retries of a process that holds the delivery', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((done) => (answer = done));
    const hook = await fixture.webhook('hook', async () => {
      await answered;
      return { status: 503 };
    });
    const sending = fixture.start(
      'notify',
      ...REQUEST,
      '--request',
      'r1',
      '--wait',
      '--no-background',
    );
    await waitFor(
      () => `${hook.received.length} received`,
      () => hook.received.length === 1,
    );
    // This attempt must not time out meanwhile.
    sending.child.kill('SIGSTOP');
    expect(await resolve('r1')).toMatchObject({ dropped: [], outcomes: [] });
    sending.child.kill('SIGCONT');
    answer();
    const { stdout } = await sending.exited;
    expect(stdout).toContain('The request was answered.');
    expect(hook.received).toHaveLength(1);
  });

  it('replaces a message that arrives after the answer', async () => {
    let arrive: () => void = () => undefined;
    const arrived = new Promise<void>((done) => (arrive = done));
    const shown: unknown[] = [];
    const behave: ReceiverBehaviour = async ({ rawBody }, count) => {
      await (count === 1 ? arrived : undefined);
      shown.push((JSON.parse(rawBody.toString()) as { title: string }).title);
      return { status: 200 };
    };
    const ntfy = await fixture.webhook('ntfy', behave, '--preset', 'ntfy');
    const sending = fixture.start('notify', ...REQUEST, '--request', 'r1', '--no-background');
    await waitFor(
      () => `${ntfy.received.length} received`,
      () => ntfy.received.length === 1,
    );
    await resolve('r1');
    arrive();
    expect(await sending.exited).toMatchObject({ code: 0 });
    expect(shown).toEqual(['Answered', 'Permission needed', 'Answered']);
  });

  it('replaces what a killed process may have sent', async () => {
    const behave: ReceiverBehaviour = (_, count) => (count === 1 ? 'silence' : { status: 200 });
    const ntfy = await fixture.webhook('ntfy', behave, '--preset', 'ntfy');
    const sending = fixture.start('notify', ...REQUEST, '--request', 'r1', '--no-background');
    await waitFor(
      () => `${ntfy.received.length} received`,
      () => ntfy.received.length === 1,
    );
    sending.child.kill('SIGKILL');
    await sending.exited;
    expect(await resolve('r1')).toMatchObject({ dropped: [expect.any(String)] });
    expect(ntfy.json).toMatchObject({ title: 'Answered' });
  });

  it('suppresses its event when that is sent later, but not a newer event of that id', async () => {
    const hook = await fixture.webhook('hook');
    const before = Date.now() - 1_000;
    await resolve('r1');
    const file = join(fixture.user.home, 'event.json');
    const event = { topic: 'permission_request', session: { sessionId: 's' }, createdAt: before };
    await writeFile(file, JSON.stringify({ ...event, request: { requestId: 'r1' } }));
    const [line] = await fixture.ok<EventLine>('notify', 'send', '--event-file', file);
    expect(line?.outcomes).toContainEqual(
      expect.objectContaining({ state: 'dropped', code: 'resolved' }),
    );
    expect(hook.received).toEqual([]);
    await fixture.notify(0, ...REQUEST, '--request', 'r1');
    expect(hook.received).toHaveLength(1);
  });

  it('drops nothing of another session that uses the same id', async () => {
    const hook = await fixture.webhook('hook', (_request, count) => ({
      status: count > 2 ? 204 : 503,
    }));
    const [, , , ...about] = REQUEST;
    for (const session of ['s1', 's2']) {
      await fixture.notify(
        1,
        'permission-request',
        '--session',
        session,
        ...about,
        '--request',
        'r1',
      );
    }
    const ofOne = ['--request', 'r1', '--session', 's1', '--no-background'];
    await fixture.ok('notify', 'resolve', ...ofOne);
    fixture.letTimePass();
    await fixture.ok('notify', 'flush');
    expect(hook.received).toHaveLength(3);
    expect(hook.json).toMatchObject({ session: { sessionId: 's2' } });
  });

  it('replaces the message that a webhook of Discord made', async () => {
    const discord = await DiscordWebhooks.start();
    try {
      await fixture.ok('channels', 'add', discord.url, '--preset', 'discord');
      await fixture.notify(0, ...REQUEST, '--request', 'r1');
      const [[id, question] = []] = discord.messages;
      expect(question?.description).toContain('Bash');
      expect(await resolve('r1')).toMatchObject({ outcomes: [{ state: 'sent' }] });
      expect([...discord.messages]).toEqual([
        [id, { title: 'Answered', description: expect.any(String) }],
      ]);
    } finally {
      await discord.close();
    }
  });

  it('requires the request', async () => {
    expect(await fixture.run('notify', 'resolve')).toMatchObject({ code: 2 });
  });
});
