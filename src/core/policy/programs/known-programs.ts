/**
 * Client ids of common programs as their makers publish them (seen on 2026-11-27). A `*` stands for
 * one segment of the path.
 */
const KNOWN_PROGRAMS = [
  'https://claude.ai/oauth/claude-code-client-metadata',
  'https://claude.ai/oauth/mcp-oauth-client-metadata',
  'https://chatgpt.com/oauth/client.json',
  'https://chatgpt.com/oauth/codex/client.json',
  'https://chatgpt.com/oauth/*/client.json',
  'https://vscode.dev/oauth/client-metadata.json',
] as const;

/** Returns the first of {@link KNOWN_PROGRAMS} that names the id; null = none. Such an id has no query. */
export function knownProgram(clientId: string): string | null {
  const named = KNOWN_PROGRAMS.find((known) => {
    const [given, expected] = [clientId.split('/'), known.split('/')];
    const isNamed = (part: string, at: number): boolean =>
      part === '*' ? /^[A-Za-z0-9_-]+$/.test(given[at] ?? '') : part === given[at];
    return given.length === expected.length && expected.every(isNamed);
  });
  return named ?? null;
}

/**
 * Returns true for a client id that is the address of a metadata document: https, a path, and
 * nothing that a URL parser would change.
 */
export function isDocumentAddress(clientId: string): boolean {
  if (!/^https:\/\/[\x21-\x7e]+$/.test(clientId) || !URL.canParse(clientId)) {
    return false;
  }
  const url = new URL(clientId);
  const isPlain = [url.username, url.password, url.search, url.hash].every((part) => part === '');
  // The parser removes dot segments, so that such an id differs from its address.
  return isPlain && !/[?#\\]/.test(clientId) && url.pathname !== '/' && url.href === clientId;
}
