/**
 * Keeps properties out of `console.log`, `JSON.stringify` and copies of the object, because they contain
 * secrets. Fields with `#` would throw behind the proxies of Vue and MobX.
 */
export function hideFromLogs(object: object, ...names: readonly string[]): void {
  for (const name of names) {
    Object.defineProperty(object, name, { enumerable: false });
  }
}
