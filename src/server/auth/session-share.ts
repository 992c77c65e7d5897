/**
 * Returns the part of a limit of an account that one session may use: a thief of its token leaves the rest to the
 * others, which can end it.
 */
export function shareOfSession(ofAccount: number): number {
  return Math.ceil(ofAccount / 2);
}
