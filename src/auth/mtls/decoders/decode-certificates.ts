import type { CertificateDecoder } from '../../../policy/forwarded-certificate.js';
import { decodeBase64Der } from './base64-der.js';
import { decodePem } from './pem.js';
import { decodeRfc9440 } from './rfc9440.js';
import { decodeUrlPem } from './url-pem.js';
import { decodeXfcc, type XfccElement } from './xfcc.js';

export interface EncodedCertificates {
  readonly text: string;
  /** The second header, where the format has one. */
  readonly chain: string | null;
  readonly xfccElement: XfccElement;
}

type Decode = (encoded: EncodedCertificates) => Buffer[] | null;

const DECODERS: Readonly<Record<CertificateDecoder, Decode>> = {
  'url-pem': ({ text }) => decodeUrlPem(text),
  'base64-der': ({ text }) => decodeBase64Der(text),
  rfc9440: ({ text, chain }) => decodeRfc9440(text, chain),
  xfcc: ({ text, xfccElement }) => decodeXfcc(text, xfccElement),
  // Apache turns the line breaks of the PEM into spaces.
  'pem-spaces': ({ text }) => decodePem(text),
};

/** DER certificates, the client's own first; null when the text is not exactly in the format. */
export function decodeCertificates(
  decoder: CertificateDecoder,
  encoded: EncodedCertificates,
): Buffer[] | null {
  return DECODERS[decoder](encoded);
}
