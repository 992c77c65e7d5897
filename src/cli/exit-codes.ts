/** What this program ends with; scripts may rely on it. */
export const EXIT = {
  ok: 0,
  refused: 1,
  usage: 2,
  notLoggedIn: 3,
  /** `migrate --check` only. */
  migrationsPending: 3,
  unreachable: 4,
  /** `EX_CONFIG` of sysexits.h. */
  configuration: 78,
} as const;

export const EXIT_HELP = `
Exit codes:
  0   done
  1   the server refused, or something else failed
  2   the command was used wrongly
  3   not logged in, or no longer; migrate --check: migrations are pending
  4   the server (or the database) cannot be reached or is not ready: try again
  78  the configuration is wrong
`;
