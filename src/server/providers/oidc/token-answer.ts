import { parseJson } from '../../../common/parse-json.js';
import { isRecord } from '../../../core/protocol/is-record.js';

/**
 * Removes the members of a token response that are null or empty: some providers write them for what they
 * do not give, and openid-client refuses the response.
 */
export async function withoutAbsent(response: Response): Promise<Response> {
  const text = await response.text();
  const answer = parseJson(text);
  const { status, headers } = response;
  if (!isRecord(answer)) {
    // A status such as 204 is not accepted with a body, not even an empty one.
    return new Response(text || null, { status, headers });
  }
  const given = Object.entries(answer).filter(([, value]) => value !== null && value !== '');
  return new Response(JSON.stringify(Object.fromEntries(given)), { status, headers });
}
