import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const WORK = '.build-';
const SPEC = /spec\.ts$/;
const ONE_DAY_MS = 86_400_000;
const RETRY_MS = 100;
const NEVER_BUILT = { digest: '', files: [], old: {} };

export async function bringUpToDate(target, { isForced = false, now = Date.now(), onBuild } = {}) {
  if (!isForced && isUpToDate(target)) {
    return false;
  }
  return oneAtATime(target.root, async () => {
    // Another process may have built it while this one waited.
    if (!isForced && isUpToDate(target)) {
      return false;
    }
    onBuild?.();
    await rebuild(target, now);
    return true;
  });
}

export function isUpToDate(target) {
  const { digest, files } = readRecord(target.root, target.name);
  return (
    digest === digestOf(target) &&
    files.every((name) => existsSync(join(target.root, 'dist', name)))
  );
}

export function builtFiles(root, name) {
  return readRecord(root, name).files;
}

async function rebuild(target, now) {
  const { root, name, keptMs = ONE_DAY_MS } = target;
  const dist = join(root, 'dist');
  await mkdir(dist, { recursive: true });
  // Computed before the build: a later change of a source makes the result out of date.
  const digest = digestOf(target);
  await removeAbandoned(dist, now);
  const work = await mkdtemp(join(dist, WORK));
  try {
    await target.build({ root, work });
    const files = filesIn(work);
    await moveAll(files, work, dist);
    const old = await removeOld(readRecord(root, name), { files, dist, now, keptMs });
    const record = join(work, 'record.json');
    await writeFile(record, JSON.stringify({ digest, files, old }));
    await rename(record, recordPath(root, name));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Removes the folders of killed builds. */
async function removeAbandoned(dist, now) {
  for (const name of readdirSync(dist).filter((one) => one.startsWith(WORK))) {
    const path = join(dist, name);
    if (now - statSync(path).mtimeMs > ONE_DAY_MS) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** New names first: the files that are replaced refer to them. */
async function moveAll(files, work, dist) {
  const isNew = (name) => !existsSync(join(dist, name));
  for (const name of [...files.filter(isNew), ...files.filter((one) => !isNew(one))]) {
    await mkdir(dirname(join(dist, name)), { recursive: true });
    await rename(join(work, name), join(dist, name));
  }
}

/** @returns the time of the last build of each outdated file that is kept */
async function removeOld(before, { files, dist, now, keptMs }) {
  const last = { ...before.old, ...Object.fromEntries(before.files.map((name) => [name, now])) };
  const current = new Set(files);
  const kept = {};
  for (const [name, at] of Object.entries(last)) {
    if (current.has(name)) {
      continue;
    }
    if (now - at >= keptMs) {
      await rm(join(dist, name), { force: true });
    } else {
      kept[name] = at;
    }
  }
  return kept;
}

function readRecord(root, name) {
  try {
    return JSON.parse(readFileSync(recordPath(root, name), 'utf8'));
  } catch {
    return NEVER_BUILT;
  }
}

function recordPath(root, name) {
  return join(root, `dist/.${name}.json`);
}

function digestOf({ root, inputs }) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    const files = statSync(join(root, input)).isDirectory()
      ? filesIn(join(root, input)).map((name) => `${input}/${name}`)
      : [input];
    for (const name of files.filter((one) => !SPEC.test(one))) {
      const content = readFileSync(join(root, name));
      hash.update(`${name}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('base64url');
}

/** Sorted, relative to the folder. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/**
 * Runs the action while no other process does so for the same folder: it listens on a Unix socket, which ends with it.
 * Simultaneous builds would be correct, but wasteful.
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
async function oneAtATime(folder, action) {
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  // Socket paths are limited to about 107 bytes; a checkout may be deeper than that.
  const path = join(tmpdir(), `gatehouse-build-${digest}.sock`);
  const lock = createServer();
  while (!(await isListening(lock, path))) {
    await sleep(RETRY_MS);
  }
  try {
    return await action();
  } finally {
    lock.close();
  }
}

async function isListening(lock, path) {
  try {
    await once(lock.listen(path), 'listening');
    return true;
  } catch (error) {
    if (error.code !== 'EADDRINUSE') {
      throw error;
    }
  }
  const holder = connect(path);
  await once(holder, 'connect').catch(({ code }) => {
    if (code === 'ECONNREFUSED') {
      // The process was killed, and its socket remained.
      rmSync(path, { force: true });
    }
  });
  holder.destroy();
  return false;
}
