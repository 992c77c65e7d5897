import * as tls from 'node:tls';

/** A certificate of this program with its key, in PEM, for servers that ask for one. */
export interface OwnCertificate {
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

/** Node.js has it from 22.15 on; it includes what `--use-system-ca` and `--use-openssl-ca` ask for. */
const runtime = tls as typeof tls & { getCACertificates?: (type: 'default') => string[] };

let last: { readonly inputs: readonly unknown[]; readonly context: tls.SecureContext } | null =
  null;

/**
 * What outgoing TLS connections trust: the certificate authorities of Node.js, and those of
 * `caBundle` (PEM) beside them. The newest context is kept, as making one takes a tenth of a second.
 */
export function trustingContext(caBundle: string, own: OwnCertificate = {}): tls.SecureContext {
  const inputs = [caBundle, own.cert?.toString(), own.key?.toString()];
  if (last === null || !inputs.every((input, index) => input === last?.inputs[index])) {
    const ca = [...(runtime.getCACertificates?.('default') ?? tls.rootCertificates), caBundle];
    last = { inputs, context: tls.createSecureContext({ ...own, ca }) };
  }
  return last.context;
}
