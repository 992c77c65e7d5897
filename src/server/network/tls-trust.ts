import * as tls from 'node:tls';

/** In PEM, for servers that request one. */
export interface OwnCertificate {
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

/** Available from Node.js 22.15 on; includes `--use-system-ca` and `--use-openssl-ca`. */
const runtime = tls as typeof tls & { getCACertificates?: (type: 'default') => string[] };

let last: { readonly inputs: readonly unknown[]; readonly context: tls.SecureContext } | null =
  null;

/** The newest context is kept: making one takes a tenth of a second. */
export function trustingContext(caBundle: string, own: OwnCertificate = {}): tls.SecureContext {
  const inputs = [caBundle, own.cert?.toString(), own.key?.toString()];
  if (last === null || !inputs.every((input, index) => input === last?.inputs[index])) {
    const ca = [...(runtime.getCACertificates?.('default') ?? tls.rootCertificates), caBundle];
    last = { inputs, context: tls.createSecureContext({ ...own, ca }) };
  }
  return last.context;
}
