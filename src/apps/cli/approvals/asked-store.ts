import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createPrivateFile,
  makePrivateDirectory,
  namesIn,
  readIfExists,
  readJsonIfExists,
  removeOldFiles,
  syncDirectory,
  userDirectory,
  writePrivateFile,
} from '../../../common/private-files.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import type { SealedRequest } from '../../../packages/client/approvals/account-requests.js';
import type { AskStore } from '../../../packages/client/approvals/ask-and-wait.js';
import { hasEnded, ownerOfThisProcess } from '../spool/spool-name.js';
import { isRequestId } from '../../../core/protocol/request-id.js';

/** A request that a process of this user asked. */
export interface AskedRecord {
  readonly requestId: string;
  readonly server: string;
  readonly accountId: string;
  /** Session and tool input of the agent: what happens to the tool later refers to it. */
  readonly subject: string;
  readonly sealed: string;
  readonly digest: string;
  readonly expiresAt: number;
  readonly owner: string;
}

/** A request whose end its server may not know. */
export interface UnsettledRecord extends AskedRecord {
  readonly isEnded: boolean;
  /** The session whose answer was used; null where none was. */
  readonly takenFrom: string | null;
}

/** The digest of a request that was notified of, and that is answered at the computer. */
export const NOT_ASKED = '';

type AskedEnd = Parameters<AskStore['end']>[1];

/** Longer than any request lives. */
const KEPT_MS = 25 * 60 * 60_000;
const RECORD = '.json';
const END = '.end';

/**
 * The requests of this user's programs, in private files. An end is a file of its own that only one
 * process can create: an answer counts once, also where the asking process was killed.
 */
export class AskedStore {
  private readonly directory: string;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.directory = join(userDirectory('state', environment), 'asked');
  }

  /** Returns the store of one request. */
  for(facts: Pick<AskedRecord, 'server' | 'accountId' | 'subject'>): AskStore {
    return {
      save: (asked) => this.save(asked, facts),
      end: (requestId, how, takenFrom) => this.end(requestId, how, takenFrom),
    };
  }

  /**
   * Resolves to false where the request has ended before.
   *
   * @param takenFrom the session whose answer was used; null where none was
   */
  async end(requestId: string, how: AskedEnd, takenFrom: string | null = null): Promise<boolean> {
    const text = `${[how, takenFrom].filter((part) => part !== null).join(' ')}\n`;
    const isFirst = await createPrivateFile(this.path(requestId, END), text);
    await syncDirectory(this.directory);
    return isFirst;
  }

  /** Forgets a request whose end its server knows. That it has ended stays on the disk. */
  settle(requestId: string): Promise<void> {
    return rm(this.path(requestId, RECORD), { force: true });
  }

  /** Requests that have not ended, also those of killed processes. */
  async open(): Promise<readonly UnsettledRecord[]> {
    return (await this.unsettled()).filter(({ isEnded }) => !isEnded);
  }

  /** Requests whose process was killed: no program waits for their answers, or reports their end. */
  async abandoned(): Promise<readonly UnsettledRecord[]> {
    const unsettled = await this.unsettled();
    return unsettled.filter(
      ({ owner, expiresAt, digest }) =>
        expiresAt <= Date.now() || (digest !== NOT_ASKED && hasEnded(owner)),
    );
  }

  private async unsettled(): Promise<readonly UnsettledRecord[]> {
    await removeOldFiles(this.directory, Date.now() - KEPT_MS);
    const names = await namesIn(this.directory);
    const found: UnsettledRecord[] = [];
    for (const name of names.filter((one) => one.endsWith(RECORD))) {
      const record = readRecord(await readJsonIfExists(join(this.directory, name)));
      if (record !== null) {
        const end = await readIfExists(this.path(record.requestId, END));
        const [, takenFrom = null] = (end ?? '').trimEnd().split(' ');
        found.push({ ...record, isEnded: end !== null, takenFrom });
      }
    }
    return found;
  }

  private async save(
    { request: { requestId, expiresAt }, sealed, digest }: SealedRequest,
    facts: Pick<AskedRecord, 'server' | 'accountId' | 'subject'>,
  ): Promise<void> {
    await makePrivateDirectory(this.directory);
    const owner = ownerOfThisProcess();
    const record: AskedRecord = { requestId, ...facts, sealed, digest, expiresAt, owner };
    await writePrivateFile(this.path(requestId, RECORD), `${JSON.stringify(record)}\n`);
    await syncDirectory(this.directory);
  }

  private path(requestId: string, ending: string): string {
    // File systems without upper case would confuse two ids, so the name has a second form of it.
    const name = Buffer.from(requestId, 'base64url').toString('hex');
    return join(this.directory, `${name}${ending}`);
  }
}

function readRecord(value: unknown): AskedRecord | null {
  const fields = isRecord(value) ? value : {};
  const { requestId, server, accountId, subject, owner, expiresAt } = fields;
  const texts = [server, accountId, subject, owner];
  return isRequestId(requestId) &&
    texts.every((one) => typeof one === 'string') &&
    typeof expiresAt === 'number'
    ? (fields as unknown as AskedRecord)
    : null;
}
