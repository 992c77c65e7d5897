import { isDocumentAddress, knownProgram } from './known-programs.js';
import type { ProgramScopes } from './program-scopes.js';

/** The rules of programs at one backend. */
export interface ProgramRules {
  readonly scopes: ProgramScopes;
  /** Ids of the scopes that a program gets which asks for none. */
  readonly initial: readonly string[];
  /** Shipped ids, every valid metadata document, or exactly these ids. */
  readonly clients: 'known' | 'any' | readonly string[];
  readonly tokenSeconds: number;
  readonly maxGrantSeconds: number;
}

/** A program that the operator configured, because it has no metadata document. */
export interface ConfiguredProgram {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** The client id of programs whose grant is a file: the command line makes it, and no request does. */
export const FILE_CLIENT = 'gatehouse-file';

/** How a client id is accepted: by a rule that names it, by a pattern, or as any metadata document is. */
export type ProgramAcceptance = 'named' | 'pattern' | 'any-document';

/** @returns null for a program that the backend does not accept */
export function judgeProgram(
  clientId: string,
  { clients }: Pick<ProgramRules, 'clients'>,
  configured: readonly ConfiguredProgram[],
): ProgramAcceptance | null {
  if (typeof clients !== 'string') {
    return clients.includes(clientId) ? 'named' : null;
  }
  const known = knownProgram(clientId);
  const isConfigured = configured.some(({ id }) => id === clientId);
  if (isConfigured || clientId === FILE_CLIENT || known === clientId) {
    return 'named';
  }
  if (known !== null) {
    return 'pattern';
  }
  return clients === 'any' && isDocumentAddress(clientId) ? 'any-document' : null;
}

/** Returns true if a backend accepts programs. Without one the server has none of their parts. */
export function acceptsPrograms(
  backends: readonly { readonly programs?: ProgramRules | null }[],
): boolean {
  return backends.some(({ programs }) => (programs ?? null) !== null);
}

/** Grants of one account; beyond it the one that was unused longest ends. */
export const MAX_GRANTS = 100;

/** Approvals of one account in an hour. */
export const PROGRAM_APPROVALS = { max: 20, timeWindow: 60 * 60_000 };

/** An approval needs a login of so recent a time, whatever the server demands elsewhere. */
export const APPROVAL_LOGIN_MS = 900_000;

export const REQUEST_LIFETIME_MS = 10 * 60_000;
export const CODE_LIFETIME_MS = 60_000;
export const IDLE_GRANT_MS = 30 * 86_400_000;
