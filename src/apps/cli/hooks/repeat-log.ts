import { hash } from 'node:crypto';
import { appendFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  makePrivateDirectory,
  readIfExists,
  unlessUnusable,
  userDirectory,
  writePrivateFile,
} from '../../../common/private-files.js';
import type { Question } from '../approvals/asking.js';

/** A request for permission that a hook saw. */
interface SeenRequest {
  /** Unix milliseconds. */
  readonly at: number;
  readonly session: string;
  readonly request: string;
}

interface RepeatCounts {
  readonly requests: number;
  /** The time of the first request, in Unix milliseconds; null without one. */
  readonly since: number | null;
  /** Requests that the same session had asked before. */
  readonly repeatedInSession: number;
  /** Requests that any session had asked in the eight hours before. */
  readonly repeatedInEightHours: number;
}

const EIGHT_HOURS_MS = 8 * 60 * 60_000;
/** The file holds twice as many before the older half is removed. */
const KEPT_REQUESTS = 5000;
const LINE = /^(\d{13}) ([\w-]{22}) ([\w-]{22})$/;
const LINE_BYTES = 60;
const OWNER_ONLY = 0o600;

/**
 * Counts how often requests for permission repeat byte for byte. A private file of this user has the time
 * and digests of each: no text, and nothing of it is sent.
 */
export class RepeatLog {
  private readonly path: string;
  private readonly directory: string;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.directory = userDirectory('state', environment);
    this.path = join(this.directory, 'hook-requests.log');
  }

  /** Resolves also where the disk is full: a count never keeps a request from being asked. */
  async note({ kind, session, cwd, tool }: Question, now = Date.now()): Promise<void> {
    if (kind !== 'permission') {
      return;
    }
    const line = `${now} ${digest(session.id)} ${digest([cwd, tool])}\n`;
    try {
      await makePrivateDirectory(this.directory);
      // Lines of simultaneous hooks do not mix: each is one small write at the end of the file.
      await appendFile(this.path, line, { mode: OWNER_ONLY });
      await this.shorten();
    } catch (error) {
      unlessUnusable(error);
    }
  }

  async counts(): Promise<RepeatCounts> {
    return countRepeats(await this.seen());
  }

  private async shorten(): Promise<void> {
    const { size } = await stat(this.path);
    if (size > 2 * KEPT_REQUESTS * LINE_BYTES) {
      const text = await readFile(this.path, 'utf8');
      const lines = text.split('\n').filter((line) => LINE.test(line));
      await writePrivateFile(this.path, `${lines.slice(-KEPT_REQUESTS).join('\n')}\n`, false);
    }
  }

  private async seen(): Promise<readonly SeenRequest[]> {
    const text = (await readIfExists(this.path)) ?? '';
    return text.split('\n').flatMap((line) => {
      const [, at, session, request] = LINE.exec(line) ?? [];
      return at === undefined || session === undefined || request === undefined
        ? []
        : [{ at: Number(at), session, request }];
    });
  }
}

/** @param seen in the order of their times */
export function countRepeats(seen: readonly SeenRequest[]): RepeatCounts {
  const inSession = new Set<string>();
  const lastAt = new Map<string, number>();
  let repeatedInSession = 0;
  let repeatedInEightHours = 0;
  for (const { at, session, request } of seen) {
    const both = `${session} ${request}`;
    repeatedInSession += inSession.has(both) ? 1 : 0;
    inSession.add(both);
    repeatedInEightHours += at - (lastAt.get(request) ?? -Infinity) <= EIGHT_HOURS_MS ? 1 : 0;
    lastAt.set(request, at);
  }
  const since = seen[0]?.at ?? null;
  return { requests: seen.length, since, repeatedInSession, repeatedInEightHours };
}

function digest(subject: unknown): string {
  return hash('sha256', JSON.stringify(subject), 'base64url').slice(0, 22);
}
