const WRAPPED = /^Expo(?:nent)?PushToken\[[\x21-\x7e]{1,200}\]$/;
const PLAIN = /^[a-z\d]{8}(?:-[a-z\d]{4}){3}-[a-z\d]{12}$/i;
const SHOWN_CHARACTERS = 4;

/** Whether the push service can know this token by its shape. */
export function isPushToken(token: string): boolean {
  return WRAPPED.test(token) || PLAIN.test(token);
}

/** A token as it may be shown: who knows a whole one can send to that device. */
export function maskedToken(token: string): string {
  const inner = /\[(.*)\]$/.exec(token)?.[1] ?? token;
  return `…${inner.slice(-SHOWN_CHARACTERS)}`;
}
