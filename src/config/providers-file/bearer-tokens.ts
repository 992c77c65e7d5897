const SHORTEST = 32;
const MOST = 2;

/**
 * Reads the bearer tokens of a file, one a line. Two are valid during a rotation.
 *
 * @throws Error that completes "names a file that …" and quotes nothing of the file
 */
export function readBearerTokens(text: string): readonly string[] {
  const tokens = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (tokens.length === 0) {
    throw new Error('is empty');
  }
  if (tokens.length > MOST) {
    throw new Error(`has more than ${MOST} tokens`);
  }
  if (tokens.some((token) => token.length < SHORTEST || !/^[\w.~+/=-]+$/.test(token))) {
    throw new Error(
      `has a token with less than ${SHORTEST} characters, or with others than RFC 6750 allows`,
    );
  }
  return tokens;
}
