import { isRedirectAllowable } from '../../../core/policy/programs/redirect-address.js';
import { SESSION_CLIENT } from '../../../core/policy/admission/scopes.js';
import { FILE_CLIENT, type ConfiguredProgram } from '../../../core/policy/programs/programs.js';
import type { ConfigurationReport } from '../environment/configuration-error.js';
import { object, pattern, text, texts } from '../providers-file/entry-schema.js';
import { readEntries, readEntry, type EntriesValues } from '../providers-file/entries-file.js';

const SOURCE = {
  path: 'AUTH_PROGRAM_CLIENTS_CONFIG_PATH',
  json: 'AUTH_PROGRAM_CLIENTS_CONFIG_JSON',
  content: 'programs',
} as const;

/** Client ids of this server: those of the tokens of sessions and of files. */
const OWN_CLIENTS = [SESSION_CLIENT, FILE_CLIENT];

/** The reader and the JSON schema of the programs are derived from this. */
export const PROGRAM_CLIENT_ENTRY = object({
  id: pattern(
    'letters, digits, ., - and _ (up to 64)',
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'Client id of the program.',
  ),
  name: text('Name that people see.'),
  redirectUris: texts(
    'Addresses to which the program receives codes: https, http on a loopback host (any port), or the scheme of the app.',
  ),
});

/** Problems name the index and the field, never a value. */
export function readProgramClients(
  values: EntriesValues<typeof SOURCE>,
  report: ConfigurationReport,
): ConfiguredProgram[] {
  const source = readEntries(SOURCE, values, report);
  const programs: ConfiguredProgram[] = [];
  source.entries.forEach((value, index) => {
    const before = report.problems.length;
    const problem = (field: string, message: string): void =>
      report.problem(source.variable, `[${index}]${field} ${message}`);
    const entry = readEntry(PROGRAM_CLIENT_ENTRY, value, problem);
    if (entry === null || report.problems.length > before) {
      return;
    }
    if (OWN_CLIENTS.includes(entry.id) || programs.some(({ id }) => id === entry.id)) {
      problem('.id', 'is the id of another program, or that of this server.');
    }
    const { redirectUris } = entry;
    if (redirectUris.length === 0 || !redirectUris.every((one) => isRedirectAllowable(one, true))) {
      problem(
        '.redirectUris',
        'must have at least one address, each with https, http on a loopback host or the scheme of an app, and without user name, fragment and wildcard.',
      );
    }
    programs.push(entry);
  });
  return programs;
}
