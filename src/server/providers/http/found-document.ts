import * as v from 'valibot';
import { parseJson } from '../../../common/parse-json.js';

const LONGEST_ISSUER = 200;

const DOCUMENT = v.object({ issuer: v.string() });

/**
 * Describes an answer in place of a discovery document. Of its text only the issuer is quoted: it is
 * public, and the configuration has to repeat it.
 */
export async function foundDocument(response: Response): Promise<string> {
  if (response.status !== 200) {
    return `HTTP ${response.status}`;
  }
  const document = parseJson(await response.clone().text());
  if (document === undefined) {
    return 'no JSON';
  }
  const parsed = v.safeParse(DOCUMENT, document);
  const issuer = parsed.success ? parsed.output.issuer : '';
  const isShown = /^[\x21-\x7e]+$/.test(issuer) && issuer.length <= LONGEST_ISSUER;
  return isShown ? `the issuer ${issuer}` : 'no issuer';
}
