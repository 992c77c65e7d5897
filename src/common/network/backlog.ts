/**
 * The limit of the system (Linux: 4096). Node's default of 511 fills up at once when thousands of
 * clients reconnect, and the others then wait up to a minute.
 */
export const LISTEN_BACKLOG = 4096;
