import { VARIABLE_NAMES, variableOf } from '../../dist/config/environment/env.js';
import { documentedEntry } from './provider-schema.mjs';

/** The text of config/env.example: every variable, commented out, with its default. */
export function environmentExample() {
  const groups = groupNames().map((group) => {
    const entries = namesOf(group).map((name) => exampleEntry(name, variableOf(name)));
    return `# --- ${group} ---\n\n${entries.join('\n')}`;
  });
  const head =
    '# Every variable, with its default. A secret can also be given as NAME_FILE, the path of a\n' +
    '# file that holds it. An empty value counts as not set. Made from the tables in src/config.\n';
  return `${head}\n${groups.join('\n')}`;
}

/** The text of docs/configuration.md: one table a group, and the fields of the providers file. */
export function configurationPage() {
  const sections = groupNames().map((group) => `## ${group}\n\n${variableTable(namesOf(group))}`);
  return [
    '# Configuration',
    'Every variable the server reads, made from the tables in `src/config` by `npm run generate`.',
    'A **secret** can also be read from a file: set `NAME_FILE` to its path (setting both is an error). ' +
      'An empty value counts as not set. Booleans are `true`/`false`, `1`/`0`, `yes`/`no` or `on`/`off`; ' +
      'items of a list are separated by commas, and one that holds a comma is put in double quotes. ' +
      'All mistakes are reported at once and the process exits with 78; `gatehouse config check` says the same without starting.',
    ...sections,
    `## The providers file\n\n${providersIntroduction()}`,
    table(['field', 'default', 'what'], fieldRows(documentedEntry(), '')),
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
    const secret = variable.secret === true ? ' Secret.' : '';
    return [`\`${name}\``, defaultCell(variable), valueWords(variable), `${variable.doc}${secret}`];
  });
  return table(['variable', 'default', 'value', 'what'], rows);
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
  switch (variable.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `${variable.min}..${variable.max}`;
    case 'enum':
      return choiceWords(variable.values);
    case 'csv':
      return variable.values ? `list of ${choiceWords(variable.values)}` : 'list';
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

function providersIntroduction() {
  return (
    '`AUTH_PROVIDERS_CONFIG_PATH` names a JSON file, `AUTH_PROVIDERS_CONFIG_JSON` holds the same text: an array with one object ' +
    'per OpenID Connect provider. [config/providers.example.json](../config/providers.example.json) shows two, ' +
    '[config/providers.schema.json](../config/providers.schema.json) lets an editor check them.'
  );
}

/** The fields of a JSON schema, nested ones by their path. */
function fieldRows({ properties, required = [] }, prefix) {
  return Object.entries(properties).flatMap(([name, field]) => {
    const own = [`\`${prefix}${name}\``, fieldDefault(field, required.includes(name))];
    if (field.type !== 'object') {
      return [[...own, fieldWords(field)]];
    }
    const nested = fieldRows(field, `${prefix}${name}.`);
    // What is required in it is so only where it is given.
    return field.required === undefined ? nested : [[...own, field.description], ...nested];
  });
}

function fieldDefault({ default: value }, isRequired) {
  if (isRequired) {
    return 'required';
  }
  const text = String(value ?? '');
  return text === '' ? 'none' : `\`${text}\``;
}

function fieldWords({ description, type, minimum, maximum, enum: values }) {
  if (values !== undefined) {
    return `${description} ${choiceWords(values)}.`;
  }
  return type === 'integer' ? `${description} ${minimum}..${maximum}.` : description;
}

/** Columns are padded as Prettier pads them, so that formatting never changes a generated page. */
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
