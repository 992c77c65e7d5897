import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { VARIABLE_NAMES } from '../../src/server/config/settings.js';
import { configurationPage, environmentExample } from '../../tools/generate/docs.mjs';
import { providersSchema, resourceServersSchema } from '../../tools/generate/provider-schema.mjs';
import { resolveSettings } from '../../src/server/config/resolve-settings.js';

describe('environmentExample', () => {
  const uncommented = parseEnv(environmentExample().replace(/^#(?=[A-Z])/gm, ''));

  it('lists every variable', () => {
    expect(Object.keys(uncommented).sort()).toEqual([...VARIABLE_NAMES].sort());
  });

  it('changes nothing when every line is uncommented', () => {
    expect(resolveSettings(uncommented)).toEqual(resolveSettings({}));
  });
});

describe('configurationPage', () => {
  it('shows no value as the text of an object', () => {
    expect(configurationPage()).not.toContain('[object');
  });

  it('states the effect of an empty value', () => {
    const settings = JSON.stringify(resolveSettings({}));
    for (const name of VARIABLE_NAMES) {
      expect(JSON.stringify(resolveSettings({ [name]: '' }))).toBe(settings);
    }
    const preset = { SERVICE_PRESET: 'enterprise-keyless-only' };
    expect(resolveSettings({ ...preset, AUTH_ANONYMOUS_SIGNUP_ENABLED: '' })).toEqual(
      resolveSettings(preset),
    );
    expect(configurationPage()).toContain(
      '- An empty value counts as not set: the value of the preset applies, else the default. A file of `NAME_FILE` must not be empty.\n',
    );
  });

  it.each(VARIABLE_NAMES)('has one row for %s', (name) => {
    expect(configurationPage().split(`\n| \`${name}\` `)).toHaveLength(2);
  });

  it('lists the fields of the providers file, nested ones by their path', () => {
    expect(configurationPage()).toContain('| `allow.groupsAny`');
  });

  it('shows a default that depends on other fields in its column', () => {
    const page = configurationPage().replaceAll(/ +/g, ' ');
    expect(page).toContain('\n| `displayName` | the id | Name that people see. |\n');
    expect(page).not.toContain('Default: ');
  });
});

describe('providersSchema', () => {
  const schema = JSON.parse(providersSchema()) as {
    items: { required: string[]; properties: Record<string, unknown> };
  };

  it('requires what the reader requires and knows the fields of the example', () => {
    expect(schema.items.required).toEqual(['id', 'type', 'issuer', 'clientId']);
    const example = new URL('../../config/providers.example.json', import.meta.url);
    const entries = JSON.parse(readFileSync(example, 'utf8')) as object[];
    const known = Object.keys(schema.items.properties);
    expect(known).toEqual(expect.arrayContaining(entries.flatMap((entry) => Object.keys(entry))));
  });
});

describe('resourceServersSchema', () => {
  it('requires what the reader requires and knows the fields of the example', () => {
    const { items } = JSON.parse(resourceServersSchema()) as {
      items: { required: string[]; properties: Record<string, unknown> };
    };
    expect(items.required).toEqual(['id', 'resource', 'client']);
    const example = new URL('../../config/resource-servers.example.json', import.meta.url);
    const entries = JSON.parse(readFileSync(example, 'utf8')) as object[];
    const known = Object.keys(items.properties);
    expect(known).toEqual(expect.arrayContaining(entries.flatMap((entry) => Object.keys(entry))));
  });
});
