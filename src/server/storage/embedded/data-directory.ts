import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm, symlink, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from '../../../common/private-files.js';

const CLAIM = /^lock-[0-9a-f]{12,24}\.sock$/;
const ATTEMPTS = 200;
const ANSWER_TIMEOUT_MS = 1000;
/** A process that answers none of so many questions is stopped or hangs, and still owns the directory. */
const SILENCES = 3;

export interface DataDirectory {
  readonly path: string;
  release(): Promise<void>;
}

export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';

  constructor(path: string, holder: string) {
    super(
      `The data directory ${path} is in use by another running Gatehouse (${holder}). ` +
        'Stop that one first, or give this one its own SERVICE_DATA_DIR.',
    );
  }
}

export function databaseDirectory(dataDir: string): string {
  return join(resolve(dataDir), 'db');
}

export function holdsDatabase(dataDir: string): boolean {
  return existsSync(join(databaseDirectory(dataDir), 'PG_VERSION'));
}

/** Returns the user id of the owner of the database, unless it is the user of this process. */
export function foreignOwner(dataDir: string): number | null {
  const { uid } = statSync(databaseDirectory(dataDir));
  return process.getuid === undefined || process.getuid() === uid ? null : uid;
}

/**
 * Creates `dataDir` (mode 0700) where it is missing and claims it for this process by a listening
 * Unix socket. Unlike a pid file it ends with the process (`kill -9`), cannot name a reused pid,
 * and works for containers that share a volume. Each process listens before it checks. Of two, the
 * one whose name sorts first waits until the other has withdrawn.
 * @throws DataDirectoryInUseError when a live process holds it
 */
export async function openDataDirectory(dataDir: string): Promise<DataDirectory> {
  const path = resolve(dataDir);
  await makeDirectory(path);
  const aliasDir = await mkdtemp(join(tmpdir(), 'gh-'));
  // Socket paths are limited to about 107 bytes; the directory may be deeper than that.
  const alias = join(aliasDir, 'd');
  try {
    await symlink(path, alias);
    return await claim(path, alias);
  } finally {
    await rm(aliasDir, { recursive: true, force: true });
  }
}

async function claim(path: string, alias: string): Promise<DataDirectory> {
  const rank = draw();
  const silences = new Map<string, number>();
  let holder = 'which is starting too';
  let own: Claim | null = null;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // A new name each time: another process may just be removing the file of the last one.
    own ??= await announce(path, alias, `lock-${rank}${draw()}.sock`);
    const { name, settle, withdraw } = own;
    const rivals = await liveRivals(path, alias, name);
    if (rivals.length === 0) {
      settle();
      return { path, release: withdraw };
    }
    const isHolder = (rival: Rival): boolean =>
      rival.state === 'held' || (silences.get(rival.name) ?? 0) >= SILENCES;
    for (const rival of rivals.filter(({ state }) => state === 'silent')) {
      silences.set(rival.name, (silences.get(rival.name) ?? 0) + 1);
    }
    holder = rivals.find(isHolder)?.who ?? rivals[0]?.who ?? holder;
    if (rivals.some(isHolder)) {
      break;
    }
    if (rivals.some((rival) => rival.state === 'opening' && rival.name < name)) {
      await withdraw();
      own = null;
    }
    await sleep(10 + Math.random() * 50);
  }
  await own?.withdraw();
  throw new DataDirectoryInUseError(path, holder);
}

function draw(): string {
  return randomBytes(6).toString('hex');
}

interface Claim {
  readonly name: string;
  readonly settle: () => void;
  readonly withdraw: () => Promise<void>;
}

async function announce(path: string, alias: string, name: string): Promise<Claim> {
  let state = 'opening';
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${state} pid ${process.pid}`);
  });
  await listen(server, path, join(alias, name));
  server.unref();
  return {
    name,
    settle: () => {
      state = 'held';
    },
    withdraw: async () => {
      await new Promise<void>((done) => server.close(() => done()));
      await unlink(join(path, name)).catch(() => undefined);
    },
  };
}

function listen(server: Server, path: string, socketPath: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', (error) =>
      fail(
        new Error(
          `Cannot lock the data directory ${path} (${error.message}). It must be writable and on ` +
            'a file system that has Unix sockets: a local disk or a Docker volume.',
          { cause: error },
        ),
      ),
    );
    server.listen(socketPath, done);
  });
}

interface Rival {
  readonly name: string;
  readonly state: 'opening' | 'held' | 'silent';
  readonly who: string;
}

async function liveRivals(path: string, alias: string, ownName: string): Promise<Rival[]> {
  const names = (await readdir(path)).filter((name) => CLAIM.test(name) && name !== ownName);
  const answers = await Promise.all(
    names.map(async (name): Promise<Rival | null> => {
      const text = await ask(join(alias, name));
      if (text === null) {
        await unlink(join(path, name)).catch(() => undefined);
        return null;
      }
      const [state, ...who] = text.split(' ');
      return state === 'opening' || state === 'held'
        ? { name, state, who: who.join(' ') }
        : { name, state: 'silent', who: 'it does not answer' };
    }),
  );
  return answers.filter((answer) => answer !== null);
}

/** Returns the text of the answer, '' when there is none in time, null when no process listens. */
function ask(socketPath: string): Promise<string | null> {
  return new Promise((done) => {
    let text = '';
    const socket = connect(socketPath);
    const answered = (): void => {
      socket.destroy();
      done(text);
    };
    socket.setTimeout(ANSWER_TIMEOUT_MS, answered);
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('end', answered);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const isGone = error.code === 'ECONNREFUSED' || error.code === 'ENOENT';
      if (isGone) {
        done(null);
      } else {
        answered();
      }
    });
  });
}
