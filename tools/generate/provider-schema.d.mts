/** The text of config/providers.schema.json. */
export function providersSchema(): string;

/** The text of config/resource-servers.schema.json. */
export function resourceServersSchema(): string;
