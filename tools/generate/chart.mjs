import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { PRESETS, presetNames } from '../../dist/server/config/read-environment.js';
import { SECRET_NAMES, VARIABLE_NAMES, variableOf } from '../../dist/server/config/settings.js';
import { PROVIDER_ID_PATTERN } from '../../dist/server/config/environment/variable.js';
import {
  programEntrySchema,
  providerEntrySchema,
  resourceServerEntrySchema,
} from './provider-schema.mjs';

const CHART = new URL('../../helm/gatehouse/', import.meta.url);
const SCHEMA_SOURCE = new URL('../../helm/values.schema.source.json', import.meta.url);
/** A template refuses the variables of the OpenTelemetry SDK that contain credentials. */
const TRACING_VARIABLES = { '^OTEL_[A-Z0-9_]+$': { type: ['string', 'integer', 'boolean'] } };
const SECRET_SOURCE = { $ref: '#/definitions/secretSource' };
/** Helm reads digits as a whole number, also in a client id. */
const TEXT_TYPES = ['string', 'integer', 'null'];
/** The chart expands templates in `config`; the server checks what they become. */
const TEMPLATE = String.raw`\{\{`;
const TEMPLATE_SCHEMA = { type: 'string', pattern: TEMPLATE };

const BOOLEAN_SCHEMA = {
  anyOf: [
    { type: ['boolean', 'null'] },
    { enum: ['true', 'false', '1', '0', 'yes', 'no', 'on', 'off', ''] },
    { type: 'integer', minimum: 0, maximum: 1 },
    TEMPLATE_SCHEMA,
  ],
};

/** @returns {import('./files.mjs').GeneratedFile[]} */
export function chartFiles() {
  const values = readFileSync(new URL('values.yaml', CHART), 'utf8');
  const source = JSON.parse(readFileSync(SCHEMA_SOURCE, 'utf8'));
  return [
    {
      location: new URL('values.schema.json', CHART),
      text: json(describedSchema(chartSchema(source), values)),
    },
    { location: new URL('files/variables.json', CHART), text: json(chartVariables()) },
    { location: new URL('README.md', CHART), text: chartReadme(values) },
  ];
}

function chartVariables() {
  const presets = presetNames().map((name) => [
    name,
    parseEnv(readFileSync(new URL(`${name}.env`, PRESETS), 'utf8')),
  ]);
  const defaults = VARIABLE_NAMES.map((name) => [name, defaultText(variableOf(name))]);
  return {
    secrets: SECRET_NAMES,
    defaults: Object.fromEntries(defaults),
    presets: Object.fromEntries(presets),
  };
}

/** As in the template `gatehouse.signalSecretNames`. */
const SIGNAL_SECRETS = ['scimToken', 'pushToken', 'managementToken', 'managementClientSecret'];

function defaultText({ default: value }) {
  return Array.isArray(value) ? value.join(',') : String(value ?? '');
}

function chartSchema(source) {
  const { providers, resourceServers } = source.properties;
  const clientSecrets = {
    type: 'object',
    additionalProperties: false,
    patternProperties: { [PROVIDER_ID_PATTERN.source]: SECRET_SOURCE },
  };
  const properties = {
    ...source.properties,
    config: configSchema(),
    secrets: secretsSchema(),
    providers: {
      ...providers,
      properties: {
        ...providers.properties,
        list: { type: 'array', items: providerEntrySchema() },
        clientSecrets,
        signalSecrets: {
          type: 'object',
          additionalProperties: false,
          patternProperties: {
            [PROVIDER_ID_PATTERN.source]: objectOf(
              SIGNAL_SECRETS.map((name) => [name, SECRET_SOURCE]),
            ),
          },
        },
      },
    },
    resourceServers: {
      ...resourceServers,
      properties: {
        list: { type: 'array', items: resourceServerEntrySchema() },
        clientSecrets,
        programClients: { type: 'array', items: programEntrySchema() },
      },
    },
  };
  return { ...source, properties };
}

/** Editors show the comments of values.yaml as descriptions. */
function describedSchema(schema, values) {
  for (const { path, words: description } of documentedValues(values)) {
    const keys = path.split('.');
    const last = keys.pop();
    const parent = keys.reduce((at, key) => at.properties?.[key] ?? {}, schema);
    const own = parent.properties?.[last];
    if (own !== undefined) {
      // Draft 7 ignores every other keyword next to a $ref.
      const shape = '$ref' in own ? { allOf: [own] } : own;
      parent.properties[last] = { description, ...shape };
    }
  }
  return schema;
}

/** Names of secrets pass the schema, so that a template can refuse them with the reason. */
function configSchema() {
  const plain = VARIABLE_NAMES.map((name) => {
    const variable = variableOf(name);
    const shape = variable.secret === true ? {} : valueSchema(variable);
    return [name, { description: words(variable), ...shape }];
  });
  const files = SECRET_NAMES.map((name) => {
    const description = `File that holds ${name}, mounted by something else than this chart.`;
    return [`${name}_FILE`, { description, type: 'string', minLength: 1 }];
  });
  return { ...objectOf([...plain, ...files]), patternProperties: TRACING_VARIABLES };
}

function secretsSchema() {
  return objectOf(SECRET_NAMES.map((name) => [name, SECRET_SOURCE]));
}

function objectOf(entries) {
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(entries) };
}

function words(variable) {
  const text = variable.doc.replaceAll('`', '');
  return variable.secret === true ? `Refused here, as it is a secret. ${text}` : text;
}

function valueSchema(variable) {
  switch (variable.type) {
    case 'boolean':
      return BOOLEAN_SCHEMA;
    case 'integer':
      return integerSchema(variable);
    case 'enum':
      return { anyOf: [{ enum: [...variable.values, '', null] }, TEMPLATE_SCHEMA] };
    case 'csv':
      return listSchema(itemSchema(variable));
    case 'cidrs':
      return listSchema({ type: 'string', pattern: `^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$|${TEMPLATE}` });
    case 'string':
      return variable.pattern === undefined
        ? { type: TEXT_TYPES }
        : { type: TEXT_TYPES, pattern: `${variable.pattern.source}|^$|${TEMPLATE}` };
    case 'url':
      return { type: ['string', 'null'], pattern: `^${urlStart(variable)}\\S*$|^$|${TEMPLATE}` };
    case 'path':
    case 'json':
      return { type: ['string', 'null'] };
  }
}

function urlStart({ schemes }) {
  return schemes === undefined ? '[A-Za-z][A-Za-z0-9+.-]*:' : `(${schemes.join('|')})://[^/?#\\s]`;
}

function integerSchema(variable) {
  const range = variable.clamp === true ? {} : { minimum: variable.min, maximum: variable.max };
  return { type: ['integer', 'string', 'null'], pattern: `^\\d*$|${TEMPLATE}`, ...range };
}

/** The server lower-cases and trims items, so the schema checks only their spelling. */
function itemSchema({ values }) {
  return values === undefined ? { type: 'string', pattern: '^[^"]+$' } : { enum: values };
}

function listSchema(items) {
  return { anyOf: [{ type: ['string', 'null'] }, { type: 'array', items }] };
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function chartReadme(values) {
  const rows = documentedValues(values).map(
    ({ path, fallback, words }) => `| \`${path}\` | ${fallback} | ${words} |`,
  );
  return `${INTRODUCTION}| value | default | what |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** Returns each value with a comment of the form `# -- words`, in the order of the file. */
function documentedValues(values) {
  const lines = values.split('\n');
  const found = [];
  let parents = [];
  lines.forEach((text, index) => {
    const line = keyLine(text);
    if (line === null) {
      return;
    }
    parents = [...parents.filter(({ indent }) => indent < line.indent), line];
    const comment = /^\s*# -- (.+)$/.exec(lines[index - 1] ?? '');
    if (comment?.[1] !== undefined) {
      const path = parents.map(({ key }) => key).join('.');
      const fallback = fallbackOf(line, lines.slice(index + 1));
      found.push({ path, fallback, words: comment[1].replaceAll('|', '\\|') });
    }
  });
  return found;
}

function keyLine(text) {
  const match = /^( *)([A-Za-z][\w./-]*):(?: +(.*))?$/.exec(text);
  return match === null
    ? null
    : { indent: match[1]?.length ?? 0, key: match[2] ?? '', rest: match[3] ?? '' };
}

/** A default of several lines is documented by values.yaml itself. */
function fallbackOf({ indent, rest }, following) {
  if (rest !== '') {
    return `\`${rest}\``;
  }
  const next = following[0] ?? '';
  return /^ */.exec(next)?.[0].length === indent ? '' : 'see values.yaml';
}

const INTRODUCTION = `# The chart of Gatehouse

Installs [Gatehouse](../../README.md) on Kubernetes 1.30 or newer, with Helm 3 or 4, directly or through
Argo CD or Flux. It brings no database: PostgreSQL and Redis are yours.
[docs/deploy-kubernetes.md](../../docs/deploy-kubernetes.md) goes through a whole deployment.

\`\`\`sh
# To try it: the embedded database, one pod.
helm install gate ./helm/gatehouse --set image.repository=registry.example.org/gatehouse
helm test gate
\`\`\`

For real use bring a PostgreSQL, a Redis when there is to be more than one pod, and a Secret:

\`\`\`yaml
replicaCount: 2
secrets:
  DATABASE_URL: { existingSecret: gatehouse }
  REDIS_URL: { existingSecret: gatehouse }
  SERVICE_MASTER_SECRET: { existingSecret: gatehouse }
config:
  SERVICE_PUBLIC_URL: https://gate.example.org
  SERVICE_PRESET: default
\`\`\`

Whole examples: [values-enterprise-keyless.yaml](values-enterprise-keyless.yaml), and every file of [ci](ci).

## What it refuses to render, and why

| refused | because |
| --- | --- |
| a secret in \`config\` | it would be in a ConfigMap, which many can read |
| a misspelt variable or value | its policy would silently stay at the default |
| more than one replica, or an HPA that may create them, without \`REDIS_URL\` | they would not share updates and revocations |
| more than one replica with the embedded database | each would have its own accounts |
| the migration hook with secrets by value | the hook runs before the chart's own Secret exists |
| an HTTPRoute without \`parentRefs\` | no gateway would serve it |
| direct mode without a certificate | its Secret could not be mounted |
| \`createProxyConfig\` whose objects would not be used | certificates would not be asked for |
| \`networkPolicy.egress.enabled\` without rules | nothing but DNS would be reached |
| a ServiceMonitor that cannot present \`METRICS_TOKEN\` | every scrape would be refused |
| a grace period shorter than sleep and drain | pods would be killed with open requests |

The chart knows no policy. \`gatehouse config check\` does, with the environment and the files of the server: it is the init
container \`config-check\` of each pod. Where the server would not start, or would not do what is configured (keyless accounts with
\`required_e2ee\`, no way to sign in, two ports of one number, …), it prints each problem as a sentence and the pod does not start. During
an upgrade the pods of the old version go on. \`kubectl describe pod\` has the problems too, and the notes of the release the command
that prints the whole output.

## Secrets

Nothing is generated at random while rendering: a GitOps controller would change it at each sync, and every token
would become invalid. Secrets are files in the pod (\`NAME_FILE\`), not environment variables. The pods follow a changed
ConfigMap and a Secret of the chart by themselves; after changing your own Secret run \`kubectl rollout restart\`.

## Values

`;
