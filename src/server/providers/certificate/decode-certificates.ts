import { createHash } from 'node:crypto';
import { parseItem, parseList } from 'structured-headers';
import type { CertificateDecoder } from '../../../core/policy/certificate/forwarded-certificate.js';
import { allOrNull, decodePem, decodeStrictBase64 } from '../../../core/x509/pem.js';

interface EncodedCertificates {
  readonly text: string;
  /** The second header, where the format has one. */
  readonly chain: string | null;
  /** Which element of `x-forwarded-client-cert` counts; `only` refuses a header with several. */
  readonly xfccElement: 'only' | 'first';
}

/** @returns the client's own certificate first; null when the text is not exactly in the format */
export function decodeCertificates(
  decoder: CertificateDecoder,
  { text, chain, xfccElement }: EncodedCertificates,
): Buffer[] | null {
  try {
    switch (decoder) {
      case 'url-pem':
        return decodeUrlPem(text);
      case 'base64-der':
        return decodeBase64Der(text);
      case 'rfc9440':
        return decodeRfc9440(text, chain);
      case 'xfcc':
        return decodeXfcc(text, xfccElement);
      case 'pem-spaces':
        // Apache turns the line breaks of the PEM into spaces.
        return decodePem(text);
    }
  } catch {
    // Neither percent-encoded nor a structured field.
    return null;
  }
}

/** The form of nginx, ingress-nginx, AWS and Kong, in which `+` is no space. */
function decodeUrlPem(text: string): Buffer[] | null {
  return decodePem(decodeURIComponent(text));
}

/** Base64 DER joined by commas, the leaf first: Traefik (2.8 percent-encoded it), HAProxy, Caddy. */
function decodeBase64Der(text: string): Buffer[] | null {
  // `%` is not in the alphabet, so this cannot be read in two ways.
  const plain = text.includes('%') ? decodeURIComponent(text) : text;
  return allOrNull(plain.split(',').map((one) => decodeStrictBase64(one.trim())));
}

/** RFC 9440: `Client-Cert` is one byte sequence, `Client-Cert-Chain` a list without the leaf. */
function decodeRfc9440(text: string, chain: string | null): Buffer[] | null {
  const leaf = toBytes(text, parseItem(text)[0]);
  const members = chain === null ? [] : parseList(chain);
  const parts = chain === null ? [] : chain.split(',');
  return allOrNull([
    leaf,
    ...members.map(([value], index) => toBytes(parts[index]?.trim() ?? '', value)),
  ]);
}

/** The parser accepts wrong padding (RFC 9651, 4.2.7), and parameters have no meaning here. */
function toBytes(text: string, value: unknown): Buffer | null {
  if (!(value instanceof ArrayBuffer) || !text.startsWith(':') || !text.endsWith(':')) {
    return null;
  }
  return decodeStrictBase64(text.slice(1, -1));
}

type Pairs = ReadonlyMap<string, readonly string[]>;

/** A key, its value in quotes or bare, and what separates it from the next pair. */
const PAIR = /\s*([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^",;]*))(?:([,;])|$)/gy;

/** Envoy's header: elements by `,`, pairs by `;`, values with those characters in quotes. */
function decodeXfcc(text: string, wanted: 'only' | 'first'): Buffer[] | null {
  const elements = tokenize(text);
  const [first, ...others] = elements ?? [];
  if (first === undefined || (wanted === 'only' && others.length > 0)) {
    return null;
  }
  const cert = certificatesIn(first, 'cert');
  const chain = certificatesIn(first, 'chain');
  if (cert === null || chain === null || cert.length > 1) {
    return null;
  }
  // The chain has the leaf in it, so both must name the same certificate.
  const [leaf] = cert.length === 0 ? chain : cert;
  const isSame = cert.length === 0 || chain.length === 0 || chain[0]?.equals(leaf ?? chain[0]);
  if (leaf === undefined || isSame !== true || !isHashOf(first, leaf)) {
    return null;
  }
  return chain.length === 0 ? [leaf] : chain;
}

/** @returns none when the element does not have the key, null when it is invalid */
function certificatesIn(element: Pairs, key: string): Buffer[] | null {
  const [value, ...others] = element.get(key) ?? [];
  if (others.length > 0) {
    return null;
  }
  return value === undefined || value === '' ? [] : decodeUrlPem(value);
}

function isHashOf(element: Pairs, leaf: Buffer): boolean {
  const [hash] = element.get('hash') ?? [];
  return (
    hash === undefined || hash.toLowerCase() === createHash('sha256').update(leaf).digest('hex')
  );
}

/** @returns elements with their keys in lower case; null where the text does not match the grammar */
function tokenize(text: string): Pairs[] | null {
  let pairs = new Map<string, string[]>();
  const elements = [pairs];
  let length = 0;
  let separator: string | undefined = ';';
  for (const [pair, key = '', quoted, bare = '', next] of text.matchAll(PAIR)) {
    const name = key.toLowerCase();
    const value = quoted === undefined ? bare : quoted.replace(/\\(.)/g, '$1');
    pairs.set(name, [...(pairs.get(name) ?? []), value]);
    if (next === ',') {
      pairs = new Map();
      elements.push(pairs);
    }
    length += pair.length;
    separator = next;
  }
  return length === text.length && separator === undefined ? elements : null;
}
