import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { PRESETS, presetNames } from '../../dist/config/environment-sources.js';
import { SECRET_NAMES, VARIABLE_NAMES, variableOf } from '../../dist/config/environment/env.js';
import { PROVIDER_ID_PATTERN } from '../../dist/config/environment/variable.js';
import { chartReadme, documentedValues } from './chart-readme.mjs';
import { providerEntrySchema } from './provider-schema.mjs';

const CHART = new URL('../../helm/gatehouse/', import.meta.url);
const SCHEMA_SOURCE = new URL('../../helm/values.schema.source.json', import.meta.url);
/** Standard ones, for the OpenTelemetry SDK; a template refuses those that hold credentials. */
const TRACING_VARIABLES = { '^OTEL_[A-Z0-9_]+$': { type: ['string', 'integer', 'boolean'] } };
const SECRET_SOURCE = { $ref: '#/definitions/secretSource' };
/** Helm reads what looks like a whole number as one, also where a client id is meant. */
const TEXT_TYPES = ['string', 'integer', 'null'];
const BOOLEAN_SCHEMA = {
  anyOf: [
    { type: ['boolean', 'null'] },
    { enum: ['true', 'false', '1', '0', 'yes', 'no', 'on', 'off', ''] },
    { type: 'integer', minimum: 0, maximum: 1 },
  ],
};

/**
 * Every file of the chart that is made from the configuration tables, as it should be.
 *
 * @returns {import('./files.mjs').GeneratedFile[]}
 */
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

/** What templates need to know of the variables: names, defaults and presets. */
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

function defaultText({ default: value }) {
  return Array.isArray(value) ? value.join(',') : String(value ?? '');
}

/** The hand-written schema with the parts that follow from the tables. */
function chartSchema(source) {
  const { providers } = source.properties;
  const properties = {
    ...source.properties,
    config: configSchema(),
    secrets: secretsSchema(),
    providers: {
      ...providers,
      properties: {
        ...providers.properties,
        list: { type: 'array', items: providerEntrySchema() },
        clientSecrets: {
          type: 'object',
          additionalProperties: false,
          patternProperties: { [PROVIDER_ID_PATTERN.source]: SECRET_SOURCE },
        },
      },
    },
  };
  return { ...source, properties };
}

/** The schema with the comments of values.yaml as descriptions, which editors show. */
function describedSchema(schema, values) {
  for (const { path, words: description } of documentedValues(values)) {
    const keys = path.split('.');
    const last = keys.pop();
    const parent = keys.reduce((at, key) => at.properties?.[key] ?? {}, schema);
    const own = parent.properties?.[last];
    if (own !== undefined) {
      // Beside a $ref, draft 7 ignores every other keyword.
      const shape = '$ref' in own ? { allOf: [own] } : own;
      parent.properties[last] = { description, ...shape };
    }
  }
  return schema;
}

/**
 * Names of secrets are let through, for a template to refuse them with the reason: a schema could
 * only say that they are not allowed.
 */
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
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(entries),
  };
}

function words(variable) {
  const text = variable.doc.replaceAll('`', '');
  return variable.secret === true ? `Refused here, as it is a secret. ${text}` : text;
}

/** What YAML may hold for a variable, so that the server takes the text that becomes of it. */
function valueSchema(variable) {
  switch (variable.type) {
    case 'boolean':
      return BOOLEAN_SCHEMA;
    case 'integer':
      return integerSchema(variable);
    case 'enum':
      return { enum: [...variable.values, '', null] };
    case 'csv':
      return listSchema(itemSchema(variable));
    case 'cidrs':
      return listSchema({ type: 'string', pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$' });
    case 'string':
      return variable.pattern === undefined
        ? { type: TEXT_TYPES }
        : { type: TEXT_TYPES, pattern: `${variable.pattern.source}|^$` };
    case 'url':
    case 'path':
    case 'json':
      return { type: ['string', 'null'] };
  }
}

function integerSchema(variable) {
  const range = variable.clamp === true ? {} : { minimum: variable.min, maximum: variable.max };
  return { type: ['integer', 'string', 'null'], pattern: '^\\d*$', ...range };
}

/** Items are lower-cased and trimmed by the server, so only their spelling is judged here. */
function itemSchema({ values }) {
  return values === undefined ? { type: 'string', pattern: '^[^"]*$' } : { enum: values };
}

function listSchema(items) {
  return { anyOf: [{ type: ['string', 'null'] }, { type: 'array', items }] };
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
