/**
 * Connections that wait to be accepted, as far as the system allows (Linux: 4096). Node's 511 are gone in
 * a moment when thousands of clients reconnect, and the system lets the others wait for up to a minute.
 */
export const LISTEN_BACKLOG = 4096;
