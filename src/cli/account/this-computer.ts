import { hostname } from 'node:os';

/** As a session's client name may have (contract, Sessions). */
const MAX_CHARACTERS = 64;

/** How the account's list of sessions shows this computer. */
export const thisComputer = {
  name: hostname().slice(0, MAX_CHARACTERS),
  platform: process.platform,
};
