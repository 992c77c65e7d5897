import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

interface Traced {
  readonly name: string;
  readonly ph: string;
  readonly args: Readonly<Record<string, string | undefined>>;
}

const DIST = pathToFileURL(join(import.meta.dirname, '../../../dist/apps/cli/'));

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'power-loss-'));
});

/** Runs the program, and returns what it asked of the file system, in order. */
async function trace(program: string): Promise<readonly Traced[]> {
  const log = join(home, 'trace.json');
  const tracing = ['--trace-event-categories=node.fs.async', `--trace-event-file-pattern=${log}`];
  await promisify(execFile)(process.execPath, [...tracing, '--input-type=module', '-e', program]);
  const { traceEvents } = JSON.parse(readFileSync(log, 'utf8')) as {
    readonly traceEvents: readonly Traced[];
  };
  return traceEvents.filter(({ ph }) => ph === 'b');
}

/** Returns true if the directory was synced after a file of that name got its place in it. */
function isKept(traced: readonly Traced[], name: RegExp): boolean {
  const placeOf = ({ args }: Traced): string => args['dest'] ?? args['new_path'] ?? '';
  const placed = traced.findIndex((one) => name.test(basename(placeOf(one))));
  const directory = dirname(placeOf(traced[placed] as Traced));
  const later = traced.slice(placed);
  const opened = later.findIndex((one) => one.name === 'open' && one.args['path'] === directory);
  return opened !== -1 && later.slice(opened).some((one) => one.name === 'fsync');
}

describe('a file that has to survive a power failure', () => {
  it('syncs the folder of a new device key before a server receives the key', async () => {
    const traced = await trace(`
      import { ServerStore } from '${new URL('account/server-store.js', DIST).href}';
      await new ServerStore({ XDG_CONFIG_HOME: ${JSON.stringify(home)} })
        .requireNewDeviceKey('https://gate.example.org');`);
    expect(isKept(traced, /^device-key\.json$/)).toBe(true);
  });

  it('syncs the spool before an event counts as accepted', async () => {
    const directory = JSON.stringify(join(home, 'spool'));
    const traced = await trace(`
      import { Spool } from '${new URL('spool/spool.js', DIST).href}';
      import { eventsEntryFor } from '${new URL('spool/spool-entry.js', DIST).href}';
      const account = { server: 'https://gate.example.org', accountId: 'a', settingsFile: null };
      const event = { id: 'e1', topic: 'ready', createdAt: Date.now(), session: { sessionId: 's' } };
      const spool = new Spool({ directory: ${directory}, now: Date.now });
      await spool.addEvents(eventsEntryFor(account, [event], { denyPrivate: false }), false);`);
    expect(isKept(traced, /\.json$/)).toBe(true);
  });
});
