import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { duplexPair } from 'node:stream';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  Extension,
  Extensions,
  id_ce_basicConstraints,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import { ConfigurationError } from '../../config/environment/configuration-error.js';
import type { TrustStore } from '../../../core/x509/certificate-chain.js';
import { isSelfIssued } from '../../../core/x509/name-constraints.js';

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const VALID = { notBefore: new Date('2000-01-01'), notAfter: new Date('2049-01-01') };

/**
 * Node 24.21 and 26.8 to 26.9 drop the certificates sent along (nodejs/node#65579): clients under
 * an intermediate authority would be refused.
 */
export async function requireUsableChains(trust: TrustStore | null): Promise<void> {
  // Node ends a path at a self-issued certificate alone: `allowPartialTrustChain` has no effect on a server.
  if (trust !== null && !trust.anchors.some(({ names }) => isSelfIssued(names))) {
    throw new ConfigurationError([
      {
        variable: 'SERVICE_FEATURE_AUTH_MTLS__CA_PATH',
        message:
          'Mode direct needs the root of the authorities: no certificate in this file is self-issued.',
      },
    ]);
  }
  if (mayHaveIntermediates(trust) && !(await givesPeerChains())) {
    throw new ConfigurationError([
      {
        variable: 'SERVICE_FEATURE_AUTH_MTLS__MODE',
        message:
          `Node ${process.version} drops the intermediate certificates that clients send, so they could not sign in. ` +
          'Use another version of Node, mode forwarded, or only authorities with a path length of 0.',
      },
    ]);
  }
}

/** Authorities with a path length of 0 issue no others (RFC 5280, 4.2.1.9): the client's own is enough. */
function mayHaveIntermediates(trust: TrustStore | null): boolean {
  const authorities = trust?.anchors.map(({ profile }) => profile.constraints) ?? [];
  return authorities.some((one) => one?.isAuthority === true && one.pathLength !== 0);
}

/** Tries a handshake in memory. A table of versions would not know builds of distributions. */
async function givesPeerChains(): Promise<boolean> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = { privateKey, publicKey };
  const root = issue({ subject: 'Root', issuer: 'Root', isAuthority: true, ...keys });
  const issuing = issue({ subject: 'Issuing', issuer: 'Root', isAuthority: true, ...keys });
  const leaf = issue({ subject: 'Leaf', issuer: 'Issuing', isAuthority: false, ...keys });
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' });
  const [near, far] = duplexPair();
  const server = createServer({ key, cert: leaf, ca: root, requestCert: true });
  const hasChain = new Promise<boolean>((resolve, reject) => {
    server.once('tlsClientError', reject);
    server.once('secureConnection', (socket: TLSSocket) =>
      resolve(socket.getPeerX509Certificate()?.issuerCertificate !== undefined),
    );
  });
  server.emit('connection', near);
  const client = connect({ socket: far, key, cert: leaf + issuing, rejectUnauthorized: false });
  try {
    return await hasChain;
  } finally {
    client.destroy();
    near.destroy();
  }
}

interface Contents {
  readonly subject: string;
  readonly issuer: string;
  readonly isAuthority: boolean;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** All certificates share one key. */
function issue({ subject, issuer, isAuthority, privateKey, publicKey }: Contents): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const constraints = new BasicConstraints({ cA: isAuthority });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    // ASCII is positive as a number, and another one for each certificate of an issuer.
    serialNumber: new TextEncoder().encode(subject).buffer,
    signature: algorithm,
    issuer: nameOf(issuer),
    validity: new Validity(VALID),
    subject: nameOf(subject),
    subjectPublicKeyInfo: AsnConvert.parse(
      publicKey.export({ format: 'der', type: 'spki' }),
      SubjectPublicKeyInfo,
    ),
    extensions: new Extensions([
      new Extension({
        extnID: id_ce_basicConstraints,
        critical: true,
        extnValue: new OctetString(AsnConvert.serialize(constraints)),
      }),
    ]),
  });
  const signed = Buffer.from(AsnConvert.serialize(tbsCertificate));
  const signatureValue = new Uint8Array(createSign('sha256').update(signed).sign(privateKey));
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: signatureValue.buffer,
  });
  const base64 = Buffer.from(AsnConvert.serialize(certificate)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([
    new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })]),
  ]);
}
