import * as v from 'valibot';

/** PostgreSQL refuses any other text where it compares ids. */
export const UUID = v.pipe(v.string(), v.uuid());

/** Returns the id as PostgreSQL writes it, so that it can be compared; null = it is none. */
export function readUuid(text: string): string | null {
  return isUuid(text) ? text.toLowerCase() : null;
}

export function isUuid(text: string): boolean {
  return v.is(UUID, text);
}
