import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import * as v from 'valibot';
import { parseJson } from '../../../common/parse-json.js';
import { PolledFiles } from '../../../common/polled-files.js';
import { sha256 } from '../../../common/sha256.js';
import { adminConfig } from '../../config/admin.config.js';
import { ConfigurationError } from '../../config/environment/configuration-error.js';
import { readSmallFile } from '../../config/environment/small-file.js';
import { toOperatorName, type OperatorName } from '../../../core/policy/audit-event.js';
import { ADMIN_ROLES, type AdminCaller, type AdminRole } from './admin-caller.js';

const LOOK_EVERY_MS = 2000;

interface AdminToken {
  readonly name: OperatorName;
  readonly digest: Buffer;
  readonly role: AdminRole;
}

/** Names with a colon belong to certificates and logins; a token cannot have one. */
const FILE = v.array(
  v.strictObject({
    name: v.pipe(
      v.string(),
      v.check((name) => toOperatorName(name) !== null && !name.includes(':')),
    ),
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/i)),
    role: v.picklist(ADMIN_ROLES),
  }),
);

/** The tokens of ADMIN_TOKENS_FILE. */
@Injectable()
export class AdminTokensService implements OnModuleInit {
  private readonly logger = new Logger('Administration');
  private readonly file: PolledFiles<string, AdminToken[]> | null;
  private tokens: readonly AdminToken[] = [];

  constructor(@Inject(adminConfig.KEY) { port, tokensFile }: ConfigType<typeof adminConfig>) {
    this.file =
      port === null || tokensFile === null
        ? null
        : new PolledFiles(
            () => contentsOf(tokensFile),
            tokensIn,
            (reason) => this.logger.error(`The changed ADMIN_TOKENS_FILE is not used: ${reason}`),
          );
  }

  /** @throws ConfigurationError when the file cannot be read or is invalid */
  async onModuleInit(): Promise<void> {
    try {
      this.tokens = (await this.file?.load()) ?? [];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new ConfigurationError([{ variable: 'ADMIN_TOKENS_FILE', message }]);
    }
  }

  /** Returns the caller with this token; null for an unknown one. */
  callerWith(token: string): AdminCaller | null {
    const digest = sha256(token);
    const found = this.tokens.find((one) => timingSafeEqual(one.digest, digest));
    return found === undefined ? null : { name: found.name, role: found.role, method: 'token' };
  }

  @Interval(LOOK_EVERY_MS)
  async poll(): Promise<void> {
    const tokens = (await this.file?.poll()) ?? null;
    if (tokens !== null) {
      this.tokens = tokens;
      this.logger.log('ADMIN_TOKENS_FILE has changed and is in use.');
    }
  }
}

/** @throws Error without the path, which may be a secret in the wrong variable */
async function contentsOf(path: string): Promise<string> {
  const file = readSmallFile(path);
  if ('failure' in file) {
    throw new Error(`the file ${file.failure}.`);
  }
  return Promise.resolve(file.text);
}

/** @throws Error with the problem, without the contents */
function tokensIn(text: string): AdminToken[] {
  const { success, output, issues } = v.safeParse(FILE, parseJson(text));
  if (!success) {
    const path = v.getDotPath(issues[0]) ?? 'it';
    throw new Error(
      `${path} is invalid. The file holds a JSON array of {"name", "sha256", "role"}: a name of 1 to 64 printable characters without a colon, 64 hex digits, and read or operate.`,
    );
  }
  const names = new Set(output.map(({ name }) => name));
  if (names.size < output.length) {
    throw new Error('two entries have the same name.');
  }
  return output.map(({ name, sha256, role }) => ({
    name: name as OperatorName,
    digest: Buffer.from(sha256, 'hex'),
    role,
  }));
}
