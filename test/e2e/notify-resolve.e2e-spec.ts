import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DiscordWebhooks } from '../fakes/discord-webhooks.js';
import type { Server } from '../helpers/server.js';
import { waitFor } from '../helpers/wait.js';
import { Notifying, startPlainServer, type EventLine } from './notify-world.js';

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

let server: Server;
let world: Notifying;

beforeAll(async () => {
  server = await startPlainServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  world = await Notifying.start(server);
});

afterEach(() => world.stop());

const resolve = async (id: string): Promise<Resolved> => {
  const [line] = await world.ok<Resolved>('notify', 'resolve', '--request', id, '--no-background');
  return line ?? { dropped: [], outcomes: [] };
};

describe('gatehouse notify resolve', () => {
  it('drops what waits, and replaces what phones and ntfy show, once', async () => {
    await world.registerToken(TOKEN);
    const dead = await world.webhook('dead', () => ({ status: 503 }));
    const ntfy = await world.webhook('ntfy', undefined, '--preset', 'ntfy');
    await world.notify(1, ...REQUEST, '--request', 'r1');
    await world.notify(1, ...REQUEST, '--request', 'r2');
    expect(world.push.accepted).toHaveLength(2);
    expect(await resolve('r1')).toMatchObject({
      dropped: [expect.stringMatching(/^msg_/)],
      outcomes: [{ state: 'sent' }, { state: 'sent' }],
    });
    const [asked, other, answered] = world.push.accepted;
    expect(answered).toMatchObject({ to: TOKEN, title: 'Answered', tag: asked?.tag, sound: null });
    expect(other?.tag).not.toBe(asked?.tag);
    expect(ntfy.received).toHaveLength(3);
    expect(ntfy.json).toMatchObject({ title: 'Answered', priority: 1 });
    expect(await resolve('r1')).toMatchObject({ dropped: [] });
    expect(world.push.accepted).toHaveLength(3);
    const tries = dead.received.length;
    await world.run('notify', 'flush');
    const list = await world.ok<{ state: string }>('deliveries', 'list');
    const states = list.map(({ state }) => state);
    // Of r2 the dead webhook waits still; of r1 it was dropped.
    expect(states.filter((state) => state === 'waiting').length).toBeGreaterThanOrEqual(1);
    expect(states.filter((state) => state === 'dropped')).toHaveLength(1);
    expect(dead.received.length - tries).toBeLessThanOrEqual(1);
  });

  it('ends the retries of a process that has it in hand', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((done) => (answer = done));
    const hook = await world.webhook('hook', async () => {
      await answered;
      return { status: 503 };
    });
    const sending = world.start(
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
    // Its try does not run out of time meanwhile.
    sending.child.kill('SIGSTOP');
    expect(await resolve('r1')).toMatchObject({ dropped: [], outcomes: [] });
    sending.child.kill('SIGCONT');
    answer();
    const { stdout } = await sending.exited;
    expect(stdout).toContain('The request was answered.');
    expect(hook.received).toHaveLength(1);
  });

  it('comes first where its event is sent later, but not for a later event of that id', async () => {
    const hook = await world.webhook('hook');
    const before = Date.now() - 1_000;
    await resolve('r1');
    const file = join(world.user.home, 'event.json');
    const event = { topic: 'permission_request', session: { sessionId: 's' }, createdAt: before };
    await writeFile(file, JSON.stringify({ ...event, request: { requestId: 'r1' } }));
    const [line] = await world.ok<EventLine>('notify', 'send', '--event-file', file);
    expect(line?.outcomes).toContainEqual(
      expect.objectContaining({ state: 'dropped', code: 'resolved' }),
    );
    expect(hook.received).toEqual([]);
    await world.notify(0, ...REQUEST, '--request', 'r1');
    expect(hook.received).toHaveLength(1);
  });

  it('replaces the message that a webhook of Discord made', async () => {
    const discord = await DiscordWebhooks.start();
    try {
      await world.ok('channels', 'add', discord.url, '--preset', 'discord');
      await world.notify(0, ...REQUEST, '--request', 'r1');
      const [[id, asked] = []] = discord.messages;
      expect(asked?.description).toContain('Bash');
      expect(await resolve('r1')).toMatchObject({ outcomes: [{ state: 'sent' }] });
      expect([...discord.messages]).toEqual([
        [id, { title: 'Answered', description: expect.any(String) }],
      ]);
    } finally {
      await discord.close();
    }
  });

  it('needs the request', async () => {
    expect(await world.run('notify', 'resolve')).toMatchObject({ code: 2 });
  });
});
