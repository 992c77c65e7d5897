import type { ProgramScope, ProgramScopes } from './program-scopes.js';

export interface Granted {
  readonly resourceServer: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
}

interface Backend {
  readonly id: string;
  readonly name: string;
  readonly programs?: { readonly scopes: ProgramScopes } | null;
}

/** Adds the names and texts that people read. The backend and its scopes may be gone. */
export function describeGrant<Grant extends Granted>(
  { resourceServer, clientId, clientName, scopes, ...grant }: Grant,
  backends: readonly Backend[],
) {
  const backend = backends.find(({ id }) => id === resourceServer);
  return {
    ...grant,
    client: { id: clientId, name: clientName },
    resource: { id: resourceServer, name: backend?.name ?? resourceServer },
    scopes: scopes.map((id) => {
      const known: ProgramScope | undefined = backend?.programs?.scopes[id];
      return { id, text: known?.text ?? id, requires: [...(known?.requires ?? [])] };
    }),
  };
}
