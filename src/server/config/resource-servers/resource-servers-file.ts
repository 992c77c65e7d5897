import type { ConfigurationReport } from '../environment/configuration-error.js';
import {
  readEntries,
  readEntry,
  type EntriesValues,
  type ReportField,
} from '../providers-file/entries-file.js';
import { readClient, type ClientSettings } from './client-settings.js';
import { RESOURCE_SERVER_ENTRY, type ResourceServerEntry } from './resource-server-entry.js';

const SOURCE = {
  path: 'AUTH_RESOURCE_SERVERS_CONFIG_PATH',
  json: 'AUTH_RESOURCE_SERVERS_CONFIG_JSON',
  content: 'resource servers',
} as const;

export interface ResourceServerSettings extends Omit<ResourceServerEntry, 'client' | 'name'> {
  readonly name: string;
  readonly client: ClientSettings;
}

/** Facts of other settings that entries are checked against. */
export interface ResourceServerContext {
  /** Ids of the configured providers, and `mtls` if it is enabled. */
  readonly providerIds: readonly string[];
  /** Address of this server; null = not configured. */
  readonly publicUrl: string | null;
}

/** Problems name the index and the field, never a value. */
export function readResourceServers(
  values: EntriesValues<typeof SOURCE>,
  { providerIds, publicUrl }: ResourceServerContext,
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
    checkEntry(entry, servers, { providerIds, publicUrl }, problem);
    const client = readClient(entry.client, source.directory, problem);
    if (client !== null) {
      servers.push({ ...entry, name: entry.name ?? entry.id, client });
    }
  });
  if (servers.length > 0 && publicUrl === null) {
    report.problemOnce('SERVICE_PUBLIC_URL', 'is missing: it is the issuer of access tokens.');
  }
  return servers;
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
