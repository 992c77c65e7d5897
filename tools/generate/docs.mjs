import { VARIABLE_NAMES, variableOf } from '../../dist/server/config/settings.js';
import {
  documentedEntry,
  documentedProgram,
  documentedResourceServer,
} from './provider-schema.mjs';

export function environmentExample() {
  const groups = groupNames().map((group) => {
    const entries = namesOf(group).map((name) => exampleEntry(name, variableOf(name)));
    return `# --- ${group} ---\n\n${entries.join('\n')}`;
  });
  const head =
    '# Every variable, with its default. A secret can also be given as NAME_FILE, the path of a\n' +
    '# file that holds it. An empty value counts as not set. Made from the tables in src/server/config.\n';
  return `${head}\n${groups.join('\n')}`;
}

export function configurationPage() {
  const sections = groupNames().map((group) => `## ${group}\n\n${variableTable(namesOf(group))}`);
  return [
    '# Configuration',
    'This page lists every variable that the server reads. `npm run generate` makes it from the tables in `src/server/config`.',
    [
      '- Set `NAME_FILE` to the path of a file to read a **secret** from it. Setting both is an error.',
      '- An empty value counts as not set: the value of the preset applies, else the default. A file of `NAME_FILE` must not be empty.',
      '- The file of a secret is UTF-8 and, unless it holds JSON or PEM, has one line. A byte order mark and the line ends at its end are ignored.',
      '- Booleans are `true`/`false`, `1`/`0`, `yes`/`no` or `on`/`off`.',
      '- Commas separate the items of a list. Put an item that holds a comma, or white space at an end, in double quotes.',
      '- The server reports all mistakes at once and exits with 78. `gatehouse config check` reports them without a start.',
    ].join('\n'),
    ...sections,
    `## The providers file\n\n${providersIntroduction()}`,
    table(['field', 'default', 'description'], fieldRows(documentedEntry(), '')),
    `## The resource servers file\n\n${RESOURCE_SERVERS_INTRODUCTION}`,
    table(['field', 'default', 'description'], fieldRows(documentedResourceServer(), '')),
    `## The programs file\n\n${PROGRAMS_INTRODUCTION}`,
    table(['field', 'default', 'description'], fieldRows(documentedProgram(), '')),
  ]
    .join('\n\n')
    .concat('\n');
}

function groupNames() {
  return [...new Set(VARIABLE_NAMES.map((name) => variableOf(name).group))];
}

function namesOf(group) {
  return VARIABLE_NAMES.filter((name) => variableOf(name).group === group);
}

function exampleEntry(name, variable) {
  const doc = variable.doc.replaceAll('`', '');
  const secret = variable.secret === true ? `; secret, or ${name}_FILE` : '';
  const value = `${valueWords(variable).replaceAll('`', '')}${secret}`;
  return `# ${doc} [${value}]\n#${name}=${defaultText(variable)}\n`;
}

function variableTable(names) {
  const rows = names.map((name) => {
    const variable = variableOf(name);
    const { doc, secret, values } = variable;
    const choices = values === undefined ? '' : ` ${oneOf(values)}`;
    const text = `${doc}${choices}${secret === true ? ' Secret.' : ''}`;
    return [`\`${name}\``, defaultCell(variable), typeName(variable), text];
  });
  return table(['variable', 'default', 'value', 'description'], rows);
}

function defaultText(variable) {
  return Array.isArray(variable.default)
    ? variable.default.join(',')
    : String(variable.default ?? '');
}

function defaultCell(variable) {
  const text = defaultText(variable);
  return variable.defaultDoc ?? (text === '' ? 'not set' : `\`${text}\``);
}

function valueWords(variable) {
  const { type, values } = variable;
  if (values === undefined) {
    return typeName(variable);
  }
  return type === 'csv' ? `list of ${choiceWords(values)}` : choiceWords(values);
}

function typeName(variable) {
  switch (variable.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `${variable.min}..${variable.max}`;
    case 'enum':
      return 'choice';
    case 'csv':
      return 'list';
    case 'cidrs':
      return 'list of addresses';
    case 'url':
      return 'address';
    case 'string':
      return 'text';
    case 'path':
      return 'path';
    case 'json':
      return 'JSON';
  }
}

function choiceWords(values) {
  return values.map((value) => `\`${value}\``).join(', ');
}

function oneOf(values) {
  return `${values.length === 1 ? 'Always' : 'One of'} ${choiceWords(values)}.`;
}

function providersIntroduction() {
  return [
    '`AUTH_PROVIDERS_CONFIG_PATH` names a JSON file. `AUTH_PROVIDERS_CONFIG_JSON` holds the same text.',
    'It is an array with one object per OpenID Connect provider.',
    'See the [example](../config/providers.example.json).',
    'The [schema](../config/providers.schema.json) lets an editor check the file.',
  ].join('\n');
}

const RESOURCE_SERVERS_INTRODUCTION = [
  '`AUTH_RESOURCE_SERVERS_CONFIG_PATH` names a JSON file. `AUTH_RESOURCE_SERVERS_CONFIG_JSON` holds the same text.',
  'It is an array with one object per backend ([protect-a-backend.md](protect-a-backend.md)).',
  'See the [example](../config/resource-servers.example.json).',
  'The [schema](../config/resource-servers.schema.json) lets an editor check the file.',
].join('\n');

const PROGRAMS_INTRODUCTION = [
  '`AUTH_PROGRAM_CLIENTS_CONFIG_PATH` names a JSON file. `AUTH_PROGRAM_CLIENTS_CONFIG_JSON` holds the same text.',
  'It is an array with one object per program that has no metadata document, such as',
  '`[{"id": "inspector", "name": "MCP Inspector", "redirectUris": ["http://localhost/oauth/callback"]}]`.',
  'A loopback address takes any port. Programs with a metadata document need no entry.',
].join('\n');

/** Nested fields are named by their path. */
function fieldRows({ properties, required = [] }, prefix) {
  return Object.entries(properties).flatMap(([name, field]) => {
    const own = [`\`${prefix}${name}\``, fieldDefault(field, required.includes(name))];
    // An object with names of the operator has no fields of its own.
    if (field.type !== 'object' || field.properties === undefined) {
      return [[...own, fieldWords(field)]];
    }
    const nested = fieldRows(field, `${prefix}${name}.`);
    // The required fields of an optional object are required only with the object.
    return field.required === undefined ? nested : [[...own, field.description], ...nested];
  });
}

/** A default that is no fixed value ends the description. */
const STATED_DEFAULT = / Default: (.+)\.$/;

function fieldDefault({ default: value, description }, isRequired) {
  if (isRequired) {
    return 'required';
  }
  // The default of a section is an object without fields.
  const text = typeof value === 'object' && !Array.isArray(value) ? '' : String(value ?? '');
  const [, stated = 'none'] = STATED_DEFAULT.exec(description) ?? [];
  return text === '' ? stated : `\`${text}\``;
}

function fieldWords({ description: whole, type, minimum, maximum, enum: values }) {
  const description = whole.replace(STATED_DEFAULT, '');
  if (values !== undefined) {
    return `${description} ${oneOf(values)}`;
  }
  return type === 'integer' ? `${description} ${minimum}..${maximum}.` : description;
}

/** Pads columns as Prettier does, so that formatting never changes a generated page. */
function table(head, rows) {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((title, column) =>
    Math.max(title.length, 3, ...escaped.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...escaped.map(line)].join('\n');
}
