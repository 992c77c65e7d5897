import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isUnavailable } from '../../../common/errors.js';
import { LogOnce } from '../../../common/log-once.js';
import { DatabaseService, type SqlRunner } from '../database.service.js';
import { MasterKeys } from './master-keys.js';
import {
  judgeStoredKeys,
  readStoredKeys,
  type StoredKey,
  type StoredKeysReport,
} from './stored-keys.js';

const READ_EVERY_MS = 5 * 60_000;

/** Compares the keys of stored values with the master secrets, and logs what is missing. */
@Injectable()
export class SealedValuesService implements OnModuleInit {
  private readonly logger = new Logger('MasterSecret');
  private readonly missing = new LogOnce((message) => this.logger.error(message));
  private stored: readonly StoredKey[] = [];
  private wasWrong = false;

  constructor(
    private readonly masterKeys: MasterKeys,
    private readonly database: DatabaseService,
  ) {}

  onModuleInit(): void {
    // A value may have been sealed again since the last check.
    this.masterKeys.onChange(() => {
      this.poll().catch((error: unknown) => this.logger.error(error));
    });
  }

  async check(sql: SqlRunner): Promise<StoredKeysReport> {
    this.stored = await readStoredKeys(sql);
    const report = this.report();
    this.masterKeys.isConfirmed = !report.isWrongSecret;
    this.log(report);
    return report;
  }

  /** Judges the values of the last {@link check}. */
  report(): StoredKeysReport {
    return judgeStoredKeys(this.stored, this.masterKeys);
  }

  @Interval(READ_EVERY_MS)
  async poll(): Promise<void> {
    try {
      await this.check(this.database);
    } catch (error) {
      if (!isUnavailable(error)) {
        throw error;
      }
      this.log(this.report());
    }
  }

  private log(report: StoredKeysReport): void {
    const { isWrongSecret, counts } = report;
    const state = isWrongSecret ? 'wrong' : `${counts.unknown > 0} ${counts.former > 0}`;
    const message = problemOf(report);
    if (message === null) {
      this.missing.clear();
    } else {
      this.missing.write(message, state);
    }
    if (this.wasWrong && !isWrongSecret) {
      this.logger.log('The master secret opens what the database holds.');
    }
    this.wasWrong = isWrongSecret;
  }
}

function problemOf({ counts, unknownKeyIds, isWrongSecret }: StoredKeysReport): string | null {
  const ids = unknownKeyIds.join(', ');
  if (isWrongSecret) {
    return (
      `The master secret is wrong: it does not open what the database holds (key id ${ids}). ` +
      'No request that needs the database is served until SERVICE_MASTER_SECRET, or ' +
      'SERVICE_MASTER_SECRET_PREVIOUS, has the secret that sealed it.'
    );
  }
  if (counts.unknown > 0) {
    return (
      `A master secret is missing: ${counts.unknown} stored values do not open (key id ${ids}). ` +
      'Add the secret to SERVICE_MASTER_SECRET_PREVIOUS.'
    );
  }
  return counts.former > 0
    ? 'A master secret was removed too early: stored values still need it, and open until this ' +
        'server restarts. Add it to SERVICE_MASTER_SECRET_PREVIOUS, or run gatehouse reseal first.'
    : null;
}
