export const USER_CODE_LIFETIME_MS = 10 * 60_000;

/**
 * Failed look-ups of an account and of an address group, which an office shares, in a code's life.
 * Three guesses find a given code with less than 2^-32 (RFC 8628, 5.1).
 */
export const USER_CODE_MISSES = { perAccount: 3, perAddress: 60 } as const;

/** Approvals of one account in an hour. */
export const DEVICE_APPROVALS = { max: 10, timeWindow: 60 * 60_000 };

export const INVITATION_LIMITS = {
  uses: 1000,
  minSeconds: 60,
  maxSeconds: 31_536_000,
  noteLength: 200,
} as const;
