import { createSign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, type TBSCertificate } from '@peculiar/asn1-x509';
import type { IssuedCertificate } from '../fixtures/certificates-fixture.js';
import { der, pem } from '../fixtures/der.js';

/** Signs contents that the openssl program does not write, with ECDSA and SHA-256. */
export function crafted(
  issuer: Pick<IssuedCertificate, 'key'>,
  own: IssuedCertificate,
  change: (contents: TBSCertificate, encoded: Buffer) => Buffer | void,
): IssuedCertificate {
  const certificate = AsnConvert.parse(own.der, Certificate);
  const before = Buffer.from(AsnConvert.serialize(certificate.tbsCertificate));
  const contents =
    change(certificate.tbsCertificate, before) ??
    Buffer.from(AsnConvert.serialize(certificate.tbsCertificate));
  const signature = createSign('sha256').update(contents).sign(issuer.key);
  const algorithm = Buffer.from(AsnConvert.serialize(certificate.signatureAlgorithm));
  const bits = der(0x03, Buffer.of(0), signature);
  return withDer(own, der(0x30, contents, algorithm, bits));
}

export function withDer(own: IssuedCertificate, bytes: Buffer): IssuedCertificate {
  const cert = pem('CERTIFICATE', bytes);
  const certPath = own.certPath.replace(/\.pem$/, '.crafted.pem');
  writeFileSync(certPath, cert);
  return { certPath, keyPath: own.keyPath, key: own.key, cert, der: bytes };
}
