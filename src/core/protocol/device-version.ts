/** The version of adding a device, in the body of its routes (contract, Adding a device). */
export const DEVICE_VERSION = 2;

/** The characters of an origin: a space separates origins in texts that are hashed. */
const ORIGIN = /^[\x21-\x7e]{1,2048}$/;

/** Returns null for a value that is no list of origins. */
export function readOrigins(value: unknown): readonly string[] | null {
  const isList =
    Array.isArray(value) && value.every((one) => typeof one === 'string' && ORIGIN.test(one));
  return isList ? (value as readonly string[]) : null;
}
