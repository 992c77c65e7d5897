/** What a live connection is about. */
export type ClientType = 'user-scoped' | 'session-scoped' | 'machine-scoped';

export interface ClientScope {
  readonly clientType: ClientType;
  readonly sessionId: string | null;
  readonly machineId: string | null;
}

export type ClientScopeDecision =
  | { readonly isValid: true; readonly scope: ClientScope }
  | { readonly isValid: false; readonly path: string; readonly message: string };

/** The longest session or machine id that is accepted. */
const MAX_ID_LENGTH = 256;

/** Reads the scope a client claims at the handshake (contract, Updates). */
export function judgeClientScope(auth: Readonly<Record<string, unknown>>): ClientScopeDecision {
  const { clientType = 'user-scoped', sessionId, machineId } = auth;
  const scope = { sessionId: idOf(sessionId), machineId: idOf(machineId) };
  switch (clientType) {
    case 'user-scoped':
      return { isValid: true, scope: { clientType, ...scope } };
    case 'session-scoped':
      return scope.sessionId === null
        ? { isValid: false, path: 'sessionId', message: 'session-scoped needs sessionId' }
        : { isValid: true, scope: { clientType, ...scope } };
    case 'machine-scoped':
      return scope.machineId === null
        ? { isValid: false, path: 'machineId', message: 'machine-scoped needs machineId' }
        : { isValid: true, scope: { clientType, ...scope } };
    default:
      return {
        isValid: false,
        path: 'clientType',
        message: 'clientType must be user-scoped, session-scoped or machine-scoped',
      };
  }
}

function idOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH ? value : null;
}
