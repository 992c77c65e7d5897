import type { EnvironmentText } from '../../../server/config/environment/variable.js';
import { isKnownName, unknownName } from '../../../server/config/read-environment.js';
import { SECRET_NAMES } from '../../../server/config/settings.js';
import { readVariablesFile } from '../variables-file.js';

/** Each stands for the others of its line, which must not be set together with it. */
const ALTERNATIVES: readonly (readonly (readonly string[])[])[] = [
  [
    ['AUTH_PROVIDERS_CONFIG_PATH'],
    ['AUTH_PROVIDERS_CONFIG_JSON'],
    ['AUTH_PROVIDERS_CONFIG_JSON_FILE'],
  ],
  [['AUTH_RESOURCE_SERVERS_CONFIG_PATH'], ['AUTH_RESOURCE_SERVERS_CONFIG_JSON']],
  [['AUTH_PROGRAM_CLIENTS_CONFIG_PATH'], ['AUTH_PROGRAM_CLIENTS_CONFIG_JSON']],
  [
    ['SERVICE_FEATURE_AUTH_MTLS__RULES_PATH'],
    [
      'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS',
      'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS',
    ],
  ],
  ...SECRET_NAMES.map((name) => [[name], [`${name}_FILE`]]),
];

/** Returns the variables after the change; those that the changed ones stand for are left out. */
export function withChanges(present: EnvironmentText, changes: EnvironmentText): EnvironmentText {
  const replaced = ALTERNATIVES.flatMap((alternatives) => {
    const isChanged = alternatives.some((names) =>
      names.every((name) => Object.hasOwn(changes, name)),
    );
    return isChanged ? alternatives.flat() : [];
  });
  const kept = Object.entries(present).filter(([name]) => !replaced.includes(name));
  return { ...Object.fromEntries(kept), ...changes };
}

/** Refuses unknown names too, which would falsify the plan. */
export function readPlanVariables(path: string): EnvironmentText {
  return readVariablesFile(path, (name, report) => {
    if (!isKnownName(name)) {
      report.problemOnce(name, unknownName(name));
    }
  });
}
