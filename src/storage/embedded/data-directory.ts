import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const CLAIM = /^lock-[0-9a-f]{12}\.sock$/;
const ATTEMPTS = 20;
const ANSWER_TIMEOUT_MS = 1000;

/** A data directory that this process alone may write to, until it is released. */
export interface DataDirectory {
  /** Absolute path. */
  readonly path: string;
  release(): Promise<void>;
}

/** Another running process holds the data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';

  constructor(path: string, holder: string) {
    super(
      `The data directory ${path} is in use by another running Gatehouse (${holder}). ` +
        'Stop that one first, or give this one its own SERVICE_DATA_DIR.',
    );
  }
}

/**
 * Makes `dataDir` (mode 0700) where it is missing and claims it for this process.
 *
 * The claim is a listening Unix socket in the directory, not a pid file: the kernel drops it
 * with the process, so `kill -9` leaves nothing that blocks, a reused pid cannot be mistaken for
 * the holder, and two containers that share a volume see each other. Each process listens before
 * looking, hence of two that start together at least one sees the other and backs off.
 *
 * @throws DataDirectoryInUseError when a live process holds it
 */
export async function openDataDirectory(dataDir: string): Promise<DataDirectory> {
  const path = resolve(dataDir);
  await mkdir(path, { recursive: true, mode: 0o700 });
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
  let holder = 'which is starting too';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const name = `lock-${randomBytes(6).toString('hex')}.sock`;
    const own = await announce(path, alias, name);
    const rivals = await liveRivals(path, alias, name);
    if (rivals.length === 0) {
      own.settle();
      return { path, release: own.withdraw };
    }
    await own.withdraw();
    const settled = rivals.find((rival) => rival.isSettled);
    if (settled) {
      throw new DataDirectoryInUseError(path, settled.who);
    }
    holder = rivals[0]?.who ?? holder;
    await sleep(10 + Math.random() * 150);
  }
  throw new DataDirectoryInUseError(path, holder);
}

interface Claim {
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
  readonly isSettled: boolean;
  readonly who: string;
}

async function liveRivals(path: string, alias: string, ownName: string): Promise<Rival[]> {
  const names = (await readdir(path)).filter((name) => CLAIM.test(name) && name !== ownName);
  const answers = await Promise.all(
    names.map(async (name) => {
      const answer = await ask(join(alias, name));
      if (answer === null) {
        await unlink(join(path, name)).catch(() => undefined);
      }
      return answer;
    }),
  );
  return answers.filter((answer) => answer !== null);
}

/** @returns null when no process listens any more */
function ask(socketPath: string): Promise<Rival | null> {
  return new Promise((done) => {
    let text = '';
    const socket = connect(socketPath);
    const answered = (): void => {
      socket.destroy();
      const [state, ...who] = text.split(' ');
      // A live process that cannot answer (stopped, busy) holds the directory all the same.
      done({ isSettled: state !== 'opening', who: who.join(' ') || 'it does not answer' });
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
