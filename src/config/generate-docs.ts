import { VARIABLE_NAMES, variableOf, type VariableName } from './env.js';
import { PROVIDER_FIELDS, type Fields, type ProviderField } from './provider-definition.js';
import type { Variable, VariableGroup } from './variable.js';

const README_GROUPS: readonly VariableGroup[] = [
  'Server',
  'Storage',
  'Sign-up and login',
  'Offboarding',
  'Identity providers',
];

const SECTION_START = '<!-- environment:start -->';
const SECTION_END = '<!-- environment:end -->';

/** The text of config/env.example: every variable, commented out, with its default. */
export function environmentExample(): string {
  const groups = groupNames().map((group) => {
    const entries = namesOf(group).map((name) => exampleEntry(name, variableOf(name)));
    return `# --- ${group} ---\n\n${entries.join('\n')}`;
  });
  const head =
    '# Every variable, with its default. A secret can also be given as NAME_FILE, the path of a\n' +
    '# file that holds it. An empty value counts as not set. Made from src/config/env.ts.\n';
  return `${head}\n${groups.join('\n')}`;
}

/** The text of docs/configuration.md: one table a group, and the fields of the providers file. */
export function configurationPage(): string {
  const sections = groupNames().map((group) => `## ${group}\n\n${variableTable(namesOf(group))}`);
  return [
    '# Configuration',
    'Every variable the server reads, made from `src/config/env.ts` by `npm run generate`.',
    'A **secret** can also be read from a file: set `NAME_FILE` to its path (setting both is an error). ' +
      'An empty value counts as not set. Booleans are `true`/`false`, `1`/`0`, `yes`/`no` or `on`/`off`; ' +
      'items of a list are separated by commas, and one that holds a comma is put in double quotes. ' +
      'All mistakes are reported at once and the process exits with 78; `gatehouse config check` says the same without starting.',
    ...sections,
    `## The providers file\n\n${providersIntroduction()}`,
    fieldTable(PROVIDER_FIELDS),
  ]
    .join('\n\n')
    .concat('\n');
}

/** The table between the markers of the README: what a first deployment needs. */
export function readmeSection(): string {
  const names = README_GROUPS.flatMap(namesOf);
  const link = 'All of them, with ranges: [docs/configuration.md](docs/configuration.md).';
  return `${table(['variable', 'default', 'what'], names.map(shortRow))}\n\n${link}`;
}

/** The README with a fresh section; unchanged when it has no markers. */
export function withEnvironmentSection(readme: string): string {
  const start = readme.indexOf(SECTION_START);
  const end = readme.indexOf(SECTION_END, start);
  if (start === -1 || end === -1) {
    return readme;
  }
  const before = readme.slice(0, start + SECTION_START.length);
  return `${before}\n\n${readmeSection()}\n\n${readme.slice(end)}`;
}

function groupNames(): VariableGroup[] {
  return [...new Set(VARIABLE_NAMES.map((name) => variableOf(name).group))];
}

function namesOf(group: VariableGroup): VariableName[] {
  return VARIABLE_NAMES.filter((name) => variableOf(name).group === group);
}

function exampleEntry(name: string, variable: Variable): string {
  const doc = variable.doc.replaceAll('`', '');
  const secret = variable.secret === true ? `; secret, or ${name}_FILE` : '';
  const value = `${valueWords(variable).replaceAll('`', '')}${secret}`;
  return `# ${doc} [${value}]\n#${name}=${defaultText(variable)}\n`;
}

function variableTable(names: readonly VariableName[]): string {
  const rows = names.map((name) => {
    const variable = variableOf(name);
    const secret = variable.secret === true ? ' Secret.' : '';
    return [`\`${name}\``, defaultCell(variable), valueWords(variable), `${variable.doc}${secret}`];
  });
  return table(['variable', 'default', 'value', 'what'], rows);
}

function shortRow(name: VariableName): string[] {
  const variable = variableOf(name);
  return [`\`${name}\``, defaultCell(variable), variable.doc];
}

function defaultText(variable: Variable): string {
  return Array.isArray(variable.default)
    ? variable.default.join(',')
    : String(variable.default ?? '');
}

function defaultCell(variable: Variable): string {
  const text = defaultText(variable);
  return variable.defaultDoc ?? (text === '' ? 'not set' : `\`${text}\``);
}

function valueWords(variable: Variable): string {
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

function choiceWords(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ');
}

function providersIntroduction(): string {
  return (
    '`AUTH_PROVIDERS_CONFIG_PATH` names a JSON file, `AUTH_PROVIDERS_CONFIG_JSON` holds the same text: an array with one object ' +
    'per OpenID Connect provider. [config/providers.example.json](../config/providers.example.json) shows two, ' +
    '[config/providers.schema.json](../config/providers.schema.json) lets an editor check them.'
  );
}

function fieldTable(fields: Fields): string {
  return table(['field', 'default', 'what'], fieldRows(fields, ''));
}

function fieldRows(fields: Fields, prefix: string): string[][] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.type === 'object'
      ? fieldRows(field.fields, `${prefix}${name}.`)
      : [[`\`${prefix}${name}\``, fieldDefault(field), fieldWords(field)]],
  );
}

function fieldDefault(field: ProviderField): string {
  if (field.required === true) {
    return 'required';
  }
  const value = 'default' in field ? String(field.default ?? '') : '';
  return value === '' ? 'none' : `\`${value}\``;
}

function fieldWords(field: ProviderField): string {
  if (field.type === 'choice') {
    return `${field.doc} ${choiceWords(field.values)}.`;
  }
  return field.type === 'integer' ? `${field.doc} ${field.min}..${field.max}.` : field.doc;
}

/** Columns are padded as Prettier pads them, so that formatting never changes a generated page. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((title, column) =>
    Math.max(title.length, 3, ...escaped.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...escaped.map(line)].join('\n');
}
