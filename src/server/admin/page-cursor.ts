import * as v from 'valibot';
import { invalidRequest } from '../../common/errors.js';
import { parseJson } from '../../common/parse-json.js';

const MAX_LENGTH = 2048;

/** Encodes a position as an opaque text for clients. null = there is no next page. */
export function writeCursor(position: object | null): string | null {
  return position && Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** @throws AppError `invalid-request` for a text that this server did not create */
export function readCursor<Position>(
  cursor: string | undefined,
  schema: v.GenericSchema<unknown, Position>,
): Position | null {
  if (cursor === undefined) {
    return null;
  }
  const text = cursor.length > MAX_LENGTH ? '' : Buffer.from(cursor, 'base64url').toString();
  const { success, output } = v.safeParse(schema, parseJson(text));
  if (!success) {
    throw invalidRequest('cursor', 'cursor must be the one of the page before.');
  }
  return output;
}
