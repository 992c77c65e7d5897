import { createSign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, type TBSCertificate } from '@peculiar/asn1-x509';
import type { IssuedCertificate } from '../../../test/fixtures/certificates-fixture.js';

/** Signs contents that the openssl program does not write, with ECDSA and SHA-256. */
export function crafted(
  issuer: Pick<IssuedCertificate, 'key'>,
  own: IssuedCertificate,
  change: (contents: TBSCertificate, der: Buffer) => Buffer | void,
): IssuedCertificate {
  const certificate = AsnConvert.parse(own.der, Certificate);
  const before = Buffer.from(AsnConvert.serialize(certificate.tbsCertificate));
  const contents =
    change(certificate.tbsCertificate, before) ??
    Buffer.from(AsnConvert.serialize(certificate.tbsCertificate));
  const signature = createSign('sha256').update(contents).sign(issuer.key);
  const algorithm = Buffer.from(AsnConvert.serialize(certificate.signatureAlgorithm));
  const bits = element(0x03, Buffer.concat([Buffer.of(0), signature]));
  return withDer(own, element(0x30, Buffer.concat([contents, algorithm, bits])));
}

export function withDer(own: IssuedCertificate, der: Buffer): IssuedCertificate {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join(
    '\n',
  );
  const certPath = own.certPath.replace(/\.pem$/, '.crafted.pem');
  writeFileSync(certPath, cert);
  return { certPath, keyPath: own.keyPath, key: own.key, cert, der };
}

function element(tag: number, contents: Buffer): Buffer {
  const { length } = contents;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), contents]);
}
