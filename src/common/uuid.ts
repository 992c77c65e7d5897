import * as v from 'valibot';

/** PostgreSQL refuses any other text where it compares ids. */
export const UUID = v.pipe(v.string(), v.uuid());

export function isUuid(text: string): boolean {
  return v.is(UUID, text);
}
