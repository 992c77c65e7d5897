/** Live sessions of one account; the one unused longest ends when there is one more (contract, Sessions). */
export const MAX_SESSIONS = 100;
