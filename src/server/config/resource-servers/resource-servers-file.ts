import type { ConfigurationReport } from '../environment/configuration-error.js';
import {
  readEntries,
  readEntry,
  type EntriesValues,
  type ReportField,
} from '../providers-file/entries-file.js';
import {
  acceptsPrograms,
  type ConfiguredProgram,
  type ProgramRules,
} from '../../../core/policy/programs/programs.js';
import { readPrograms } from './programs-entry.js';
import { readClient, type ClientSettings } from './client-settings.js';
import { RESOURCE_SERVER_ENTRY, type ResourceServerEntry } from './resource-server-entry.js';

const SOURCE = {
  path: 'AUTH_RESOURCE_SERVERS_CONFIG_PATH',
  json: 'AUTH_RESOURCE_SERVERS_CONFIG_JSON',
  content: 'resource servers',
} as const;

export interface ResourceServerSettings extends Omit<
  ResourceServerEntry,
  'client' | 'name' | 'programs'
> {
  readonly name: string;
  /** null = no program gets a token for it. */
  readonly programs: ProgramRules | null;
  readonly client: ClientSettings;
}

/** Facts of other settings that entries are checked against. */
export interface ResourceServerContext {
  /** Ids of the configured providers, and `mtls` if it is enabled. */
  readonly providerIds: readonly string[];
  /** Address of this server; null = not configured. */
  readonly publicUrl: string | null;
  /** True if this server hosts the account page, where people approve programs. */
  readonly hostsAccountPage: boolean;
  /** Programs without a metadata document. */
  readonly programs: readonly ConfiguredProgram[];
}

/** Problems name the index and the field, never a value. */
export function readResourceServers(
  values: EntriesValues<typeof SOURCE>,
  context: ResourceServerContext,
  report: ConfigurationReport,
): ResourceServerSettings[] {
  const source = readEntries(SOURCE, values, report);
  const servers: ResourceServerSettings[] = [];
  source.entries.forEach((value, index) => {
    const before = report.problems.length;
    const problem = (field: string, message: string): void =>
      report.problem(source.variable, `[${index}]${field} ${message}`);
    const entry = readEntry(RESOURCE_SERVER_ENTRY, value, problem);
    if (entry === null || report.problems.length > before) {
      return;
    }
    checkEntry(entry, servers, context, problem);
    const client = readClient(entry.client, source.directory, problem);
    const isSet = Object.hasOwn(value as object, 'maxTokenSeconds');
    const programs =
      entry.programs === undefined
        ? null
        : readPrograms(
            entry.programs,
            isSet ? entry.maxTokenSeconds : null,
            context.programs,
            problem,
          );
    if (client !== null) {
      servers.push({ ...entry, name: entry.name ?? entry.id, client, programs });
    }
  });
  checkServers(servers, context, source.variable, report);
  return servers;
}

/** Checks the entries against other settings. */
function checkServers(
  servers: readonly ResourceServerSettings[],
  context: ResourceServerContext,
  variable: string,
  report: ConfigurationReport,
): void {
  if (acceptsPrograms(servers) && !context.hostsAccountPage) {
    report.problemOnce(
      'SERVICE_ACCOUNT_PAGE_ENABLED',
      'must be true where a resource server has programs: people approve them on the account page.',
    );
  }
  if (context.programs.some(({ id }) => servers.some((server) => server.id === id))) {
    report.problemOnce(variable, 'has an entry whose id is the client id of a program.');
  }
  if (servers.length > 0 && context.publicUrl === null) {
    report.problemOnce('SERVICE_PUBLIC_URL', 'is missing: it is the issuer of access tokens.');
  }
}

/** Checks an entry against the others and against other settings. */
function checkEntry(
  { id, resource, requireProviders }: ResourceServerEntry,
  servers: readonly ResourceServerSettings[],
  { providerIds, publicUrl }: ResourceServerContext,
  problem: ReportField,
): void {
  if (servers.some((other) => other.id === id)) {
    problem('.id', 'is the id of another entry.');
  }
  if (servers.some((other) => other.resource === resource)) {
    problem('.resource', 'is the address of another entry.');
  }
  if (publicUrl !== null && new URL(publicUrl).origin === new URL(resource).origin) {
    problem('.resource', 'must not have the origin of SERVICE_PUBLIC_URL.');
  }
  const unknown = requireProviders.filter((provider) => !providerIds.includes(provider));
  if (unknown.length > 0) {
    problem('.requireProviders', `names ${unknown.join(', ')}, which is not configured.`);
  }
}
