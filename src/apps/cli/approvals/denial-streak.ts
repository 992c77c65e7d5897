import { hash } from 'node:crypto';
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createPrivateFile,
  makePrivateDirectory,
  namesIn,
  readIfExists,
  removeOldFiles,
  unlessUnusable,
  userDirectory,
} from '../../../common/private-files.js';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import type { AnswerChoice } from '../../../core/protocol/request-answer.js';

/** So many denials in a row pause a session. */
export const PAUSED_AFTER = 3;

/** Printed where the session begins to be paused, and for each request that is not asked meanwhile. */
export const PAUSED_TEXT =
  'This session is paused: its last three requests were denied. Answer at the computer, or let it ask again: gatehouse requests resume';

/** A session that asked nothing for a week has ended. */
const KEPT_MS = 7 * 24 * 60 * 60_000;
const DENIALS = '.denials';
const ASKED = '.asked';
const OWNER_ONLY = 0o600;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The denials in a row of one agent session. An agent that asks again and again must not wear the person
 * down: after {@link PAUSED_AFTER} the session asks nothing until the person resumes it. The count is a
 * private file of this user, to which each denial appends a byte, so that no simultaneous one is lost.
 */
export class DenialStreak {
  private readonly directory: string;
  private readonly name: string;

  constructor(
    environment: Environment,
    { server, account, session }: Pick<AgentRequest, 'server' | 'account' | 'session'>,
  ) {
    this.directory = directoryIn(environment);
    this.name = hash('sha256', JSON.stringify([server, account, session.id]), 'hex').slice(0, 32);
  }

  async isPaused(): Promise<boolean> {
    const denials = (await readIfExists(this.path(DENIALS))) ?? '';
    return denials.length >= PAUSED_AFTER;
  }

  /** Resolves to true for one caller of a pause: the person is asked once whether to resume. */
  mayAskToResume(): Promise<boolean> {
    return createPrivateFile(this.path(ASKED), '');
  }

  /**
   * Notes the answer to a request: a denial is counted, any other answer ends the row. Resolves also
   * where the disk is full, because the answer counts all the same.
   */
  async note(choice: AnswerChoice): Promise<void> {
    try {
      await (choice === 'deny' ? this.count() : this.resume());
    } catch (error) {
      unlessUnusable(error);
    }
  }

  private async count(): Promise<void> {
    await makePrivateDirectory(this.directory);
    await removeOldFiles(this.directory, Date.now() - KEPT_MS);
    await appendFile(this.path(DENIALS), 'd', { mode: OWNER_ONLY });
  }

  async resume(): Promise<void> {
    await rm(this.path(DENIALS), { force: true });
    await rm(this.path(ASKED), { force: true });
  }

  private path(ending: string): string {
    return join(this.directory, `${this.name}${ending}`);
  }
}

/** Lets all sessions of this user ask again. Resolves to the number of those that were paused. */
export async function resumeSessions(environment: Environment): Promise<number> {
  const directory = directoryIn(environment);
  let count = 0;
  for (const name of await namesIn(directory)) {
    const path = join(directory, name);
    const denials = name.endsWith(DENIALS) ? ((await readIfExists(path)) ?? '') : '';
    count += denials.length >= PAUSED_AFTER ? 1 : 0;
    await rm(path, { force: true });
  }
  return count;
}

function directoryIn(environment: Environment): string {
  return join(userDirectory('state', environment), 'denials');
}
