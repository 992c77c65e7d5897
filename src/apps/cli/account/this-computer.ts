import { hostname } from 'node:os';

/** Limit of a session's client name (contract, Sessions). */
const MAX_CHARACTERS = 64;

export const thisComputer = {
  name: hostname().slice(0, MAX_CHARACTERS),
  platform: process.platform,
};
