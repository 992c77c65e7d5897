/**
 * Linux admits as many as `net.core.somaxconn` says, 4,096 unless it is raised. Node's 511 fill up when thousands
 * reconnect: the others try again after 1, 3 and 7 s.
 */
export const LISTEN_BACKLOG = 65_535;
