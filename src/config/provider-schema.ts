import { PROVIDER_FIELDS, type Fields, type ProviderField } from './provider-definition.js';

/** The text of config/providers.schema.json (JSON Schema 2020-12), from the fields' definition. */
export function providersSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'OpenID Connect providers',
    type: 'array',
    items: {
      ...providerEntrySchema(),
      oneOf: [{ required: ['clientSecret'] }, { required: ['clientSecretFile'] }],
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** One entry of that file; who uses it says where the client secret is. */
export function providerEntrySchema(): Record<string, unknown> {
  return objectSchema(PROVIDER_FIELDS);
}

function objectSchema(fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.required === true).map(([name]) => name);
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field)])),
  };
}

function fieldSchema(field: ProviderField): Record<string, unknown> {
  const given = 'default' in field ? { default: field.default } : {};
  return { description: field.doc.replaceAll('`', ''), ...shapeOf(field), ...given };
}

function shapeOf(field: ProviderField): Record<string, unknown> {
  switch (field.type) {
    case 'object':
      return objectSchema(field.fields);
    case 'flag':
      return { type: 'boolean' };
    case 'integer':
      return { type: 'integer', minimum: field.min, maximum: field.max };
    case 'choice':
      return { enum: field.values };
    case 'texts':
      return { type: 'array', items: { type: 'string', minLength: 1 } };
    case 'url':
      return { type: 'string', format: 'uri' };
    case 'text':
      return field.pattern === undefined
        ? { type: 'string', minLength: 1 }
        : { type: 'string', pattern: field.pattern.source };
  }
}
