/** Connected services that one account may keep credentials of. */
export const MAX_CREDENTIALS = 100;

/** Whether text names a connected service: 1 to 64 letters, digits, `.`, `-` and `_`, not a dot first. */
export function isServiceName(text: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(text);
}
