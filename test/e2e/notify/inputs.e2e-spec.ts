import { lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { Notifying, startPlainServer } from '../../fixtures/notify-fixture.js';

const server = await startPlainServer();
const fixture = await Notifying.start(server);

afterAll(async () => {
  await fixture.stop();
  await server.stop();
});

describe('the input of notify', () => {
  it('accepts an array, a byte order mark, and the field names of either side', async () => {
    const receiver = await fixture.webhook(
      'array',
      undefined,
      '--topics',
      'ready,permission_request',
    );
    const file = join(fixture.user.home, 'events.json');
    const events = ['e1', 'e2'].map((id) => ({ id, topic: 'ready', session: { sessionId: 's' } }));
    await writeFile(file, `\ufeff${JSON.stringify(events)}`);
    const lines = await fixture.ok<{ event: string }>('notify', 'send', '--event-file', file);
    expect(lines.map(({ event }) => event)).toEqual(['e1', 'e2']);
    expect(receiver.received).toHaveLength(2);
    const settings = join(fixture.user.home, 'settings.json');
    await writeFile(settings, '\ufeff{}');
    await fixture.ok('channels', 'list', '--settings-file', settings);
  });

  it('changes the file behind a link, and keeps the link', async () => {
    const file = join(fixture.user.home, 'real.json');
    const link = join(fixture.user.home, 'link.json');
    await writeFile(file, '{}');
    await symlink(file, link);
    await fixture.ok('channels', 'add', 'https://hooks.example/', '--settings-file', link);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(file, 'utf8')).toContain('https://hooks.example/');
  });

  it('requires the topic of ntfy in its url', async () => {
    const { code, stderr } = await fixture.run(
      ...['channels', 'add', 'https://ntfy.sh/', '--preset', 'ntfy'],
    );
    expect(code).toBe(2);
    expect(stderr).toContain('https://ntfy.sh/my-topic');
  });

  it('notes that this computer sends nothing to a channel which it does not permit', async () => {
    const add = (url: string, hosts: string) =>
      fixture.user.run(['channels', 'add', url], {
        ...fixture.env,
        GATEHOUSE_PRIVATE_HOSTS: hosts,
      });
    const note = 'Permit it: export GATEHOUSE_PRIVATE_HOSTS=192.168.7.7\n';
    const added = await add('http://192.168.7.7/hook', 'ntfy.lan,10.0.0.0/8');
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining(note) });
    const permitted = await add('http://192.168.7.7/hook', '192.168.0.0/16');
    expect(permitted).toMatchObject({ code: 0, stderr: '' });
    const invalid = await add('http://192.168.7.7/hook', '192.168.0.0/99');
    expect(invalid).toMatchObject({ code: 78, stdout: '' });
    expect(invalid.stderr).toContain('GATEHOUSE_PRIVATE_HOSTS: "192.168.0.0/99" is no host name');
  });

  it.each([
    ['EXPO_BASE_URL', 'exp.host'],
    ['EXPO_BASE_URL', 'ftp://exp.host'],
    ['EXPO_ACCESS_TOKEN', 'abc…'],
  ])('refuses %s=%s, with which no push is sent', async (name, value) => {
    const refused = await fixture.user.run(['notify', 'ready', '--session', 's1'], {
      ...fixture.env,
      [name]: value,
    });
    expect(refused).toMatchObject({ code: 78, stdout: '', stderr: expect.stringContaining(name) });
    expect(refused.stderr).not.toContain(value);
  });

  it('adds eight channels to one file simultaneously', async () => {
    const file = join(fixture.user.home, 'shared.json');
    const names = Array.from({ length: 8 }, (_, index) => `ch-${index}`);
    const added = await Promise.all(
      names.map((id) =>
        fixture.run(
          'channels',
          'add',
          `http://127.0.0.1/${id}`,
          '--id',
          id,
          '--settings-file',
          file,
        ),
      ),
    );
    expect(added.map(({ code }) => code)).toEqual(names.map(() => 0));
    const { notificationChannelsV1 } = JSON.parse(readFileSync(file, 'utf8')) as {
      notificationChannelsV1: { id: string }[];
    };
    expect(notificationChannelsV1.map(({ id }) => id).sort()).toEqual(names);
  });
});

describe('notify flush', () => {
  it('names a damaged file of the spool, and fails', async () => {
    const user = await createCliUser();
    const spool = join(user.home, '.local/state/gatehouse/spool');
    const key = 'a'.repeat(32);
    await mkdir(join(spool, 'queue'), { recursive: true });
    await writeFile(join(spool, 'queue', `${key}.${'b'.repeat(12)}.1.9999999999999.json`), '{');
    const { code, stderr } = await user.run(['notify', 'flush']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`Damaged, and not sent: ${spool}/damaged/${key}.json`),
    ]);
    expect((await user.run(['notify', 'flush'])).code).toBe(0);
    const note = `1 damaged file was found in the spool, and not sent: ${spool}/damaged\n`;
    expect((await user.run(['deliveries', 'list'])).stderr).toContain(note);
  });
});
