import * as v from 'valibot';
import { parseJson } from '../../../common/parse-json.js';
import { PolledFiles } from '../../../common/polled-files.js';
import { toOperatorName, type OperatorName } from '../../../core/policy/audit-event.js';
import { ConfigurationError } from '../../config/environment/configuration-error.js';
import { readSmallFile } from '../../config/environment/small-file.js';
import { repeatedField } from '../../config/providers-file/entry-schema.js';
import type { Settings } from '../../config/settings.js';
import { ADMIN_ROLES, type AdminRole } from './admin-caller.js';

export interface AdminToken {
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

type AdminTokensFile = PolledFiles<string, AdminToken[]>;

/** @returns null where no file is used @param logUnused receives the reason for an unusable change */
export function adminTokensFile(
  { port, tokensFile }: Pick<Settings['admin'], 'port' | 'tokensFile'>,
  logUnused: (reason: string) => void,
): AdminTokensFile | null {
  return port === null || tokensFile === null
    ? null
    : new PolledFiles(() => contentsOf(tokensFile), tokensIn, logUnused);
}

/** @throws ConfigurationError when the file cannot be read or is invalid */
export async function loadAdminTokens(file: AdminTokensFile | null): Promise<AdminToken[]> {
  try {
    return (await file?.load()) ?? [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError([{ variable: 'ADMIN_TOKENS_FILE', message }]);
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
  const repeated = repeatedField(text);
  if (repeated !== null) {
    throw new Error(`the file ${repeated}`);
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
