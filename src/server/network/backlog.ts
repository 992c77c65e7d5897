/** The limit of Linux. Node's 511 fill up when thousands reconnect; others wait a minute. */
export const LISTEN_BACKLOG = 4096;
