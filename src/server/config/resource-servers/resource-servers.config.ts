import { namespaceOf, variablesOf } from '../environment/variable.js';
import type { ConfiguredProgram } from '../../../core/policy/programs/programs.js';
import type { ResourceServerSettings } from './resource-servers-file.js';

const resourceServer = variablesOf('Resource servers');

export const RESOURCE_SERVER_VARIABLES = {
  AUTH_RESOURCE_SERVERS_CONFIG_PATH: resourceServer.path(
    'JSON file with the backends that accept tokens of this server, as config/resource-servers.example.json. Empty = none.',
  ),
  AUTH_RESOURCE_SERVERS_CONFIG_JSON: resourceServer(
    { type: 'json', default: null },
    'The same array as text, in place of the file.',
  ),
  AUTH_PROGRAM_CLIENTS_CONFIG_PATH: resourceServer.path(
    'JSON file with the programs without a metadata document that people may grant access to a backend. Empty = none.',
  ),
  AUTH_PROGRAM_CLIENTS_CONFIG_JSON: resourceServer(
    { type: 'json', default: null },
    'The same array as text, in place of the file.',
  ),
};

export const resourceServersConfig = namespaceOf(
  'resourceServers',
  (checked: { resourceServers: readonly ResourceServerSettings[] }) => checked.resourceServers,
);

/** Programs that the operator configured. */
export const programClientsConfig = namespaceOf(
  'programClients',
  (checked: { programClients: readonly ConfiguredProgram[] }) => checked.programClients,
);
