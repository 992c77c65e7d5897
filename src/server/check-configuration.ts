import { adminTokensFile, loadAdminTokens } from './admin/access/admin-tokens-file.js';
import {
  allChecked,
  ConfigurationError,
  type ConfigurationProblem,
} from './config/environment/configuration-error.js';
import type { EnvironmentText } from './config/environment/variable.js';
import { mtlsTlsFiles } from './config/mtls.config.js';
import { readSettings, type ResolvedConfiguration } from './config/resolve-settings.js';
import type { Settings } from './config/settings.js';
import { loadTlsContext, tlsFileSet } from './config/tls/tls-files.js';
import { certificateFiles } from './providers/certificate/certificate-files.js';

/** Reads every file that a start reads, and returns all problems at once. */
export async function resolveOrExplain(
  environment: EnvironmentText,
): Promise<ResolvedConfiguration | ConfigurationError> {
  const { problems, ...resolved } = readSettings(environment);
  const all = distinct([...problems, ...(await fileProblems(resolved.settings))]);
  return all.length === 0 ? resolved : new ConfigurationError(all, resolved.warnings);
}

/** A start ends at the first part that fails. @returns the error with the problems of the others */
export async function withAllProblems(
  error: ConfigurationError,
  environment: EnvironmentText,
): Promise<ConfigurationError> {
  const found = await resolveOrExplain(environment);
  return found instanceof ConfigurationError
    ? new ConfigurationError(distinct([...found.problems, ...error.problems]), found.warnings)
    : error;
}

async function fileProblems({
  http,
  admin,
  mtls,
}: Settings): Promise<readonly ConfigurationProblem[]> {
  const sets = [
    tlsFileSet('SERVICE_TLS', http.tls),
    admin.port === null ? null : tlsFileSet('ADMIN_TLS', admin.tls),
    mtlsTlsFiles(mtls),
  ];
  const nextTurn = (): Promise<void> => Promise.resolve();
  const ignored = (): void => undefined;
  try {
    await allChecked([
      ...sets.map(loadTlsContext),
      loadAdminTokens(adminTokensFile(admin, ignored)),
      certificateFiles(mtls, nextTurn, ignored)?.load(),
    ]);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) {
      return error.problems;
    }
    throw error;
  }
}

/** Two readers of one file report it twice. */
function distinct(problems: readonly ConfigurationProblem[]): ConfigurationProblem[] {
  const byVariable = new Map(problems.map((one) => [one.variable, one]));
  return problems.filter((one) => byVariable.get(one.variable) === one);
}
