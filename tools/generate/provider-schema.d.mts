/** The text of config/providers.schema.json. */
export function providersSchema(): string;
