import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authorityConfiguration } from './authority-configuration.js';

/** A certificate with its key, as files and as text. */
export interface IssuedCertificate {
  readonly certPath: string;
  readonly keyPath: string;
  readonly cert: string;
  readonly key: string;
  /** Without PEM around it. */
  readonly der: Buffer;
}

export interface CertificateRequest {
  /** In openssl's form, `/O=Acme/CN=Alice`. */
  readonly subject?: string;
  /** Entries of the subject alternative name: `email:a@b.example`, or `otherName:oid;UTF8:text`. */
  readonly names?: readonly string[];
  /** Encoded GeneralNames in place of `names`: {@link rfc822Name}. */
  readonly encodedNames?: readonly Buffer[];
  /** `extendedKeyUsage`; null leaves the extension out. Default clientAuth. */
  readonly usage?: string | null;
  /** `YYYYMMDDHHMMSSZ`. */
  readonly from?: string;
  readonly until?: string;
  /** Further lines of the extension section. */
  readonly extensions?: readonly string[];
  /** The lines with the key identifiers; default both, by the hash of the key. */
  readonly keyIds?: readonly string[];
  /** What `openssl req` makes the key of; default EC on P-256. */
  readonly key?: readonly string[];
  /** Further arguments of `openssl ca`, of which the signature is made. */
  readonly signing?: readonly string[];
}

const PUBLIC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const KEY_IDS = ['subjectKeyIdentifier=hash', 'authorityKeyIdentifier=keyid'];
const UPN_TYPE = '1.3.6.1.4.1.311.20.2.3';

/** The user principal name as an entry of {@link CertificateRequest.names}. */
export function upn(name: string): string {
  return `otherName:${UPN_TYPE};UTF8:${name}`;
}

/** One encoded rfc822Name with any bytes in it: configuration files cannot say all of them. */
export function rfc822Name(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([Buffer.of(0x81, bytes.length), bytes]);
}

/** A certificate authority, made and run by the openssl program. */
export class TestAuthority implements IssuedCertificate {
  private count = 0;

  private constructor(
    private readonly directory: string,
    readonly certPath: string,
    readonly keyPath: string,
  ) {
    writeFileSync(join(directory, 'index.txt'), '');
    writeFileSync(join(directory, 'index.txt.attr'), 'unique_subject = no\n');
    writeFileSync(join(directory, 'crlnumber'), '01\n');
    writeFileSync(join(directory, 'ca.cnf'), authorityConfiguration(directory, certPath, keyPath));
  }

  /** A self-signed authority in a directory of its own, below `parent`. */
  static root(parent: string, name: string, organization = 'Acme'): TestAuthority {
    const directory = join(parent, `${organization}-${name}`.replaceAll(' ', '-'));
    mkdirSync(directory);
    const [certPath, keyPath] = [join(directory, 'ca.pem'), join(directory, 'ca.key')];
    openssl(
      ['req', '-x509', ...PUBLIC_KEY, '-keyout', keyPath, '-out', certPath, '-days', '3650'],
      [
        '-utf8',
        '-subj',
        `/O=${organization}/CN=${name}`,
        '-addext',
        'keyUsage=critical,keyCertSign,cRLSign',
      ],
    );
    return new TestAuthority(directory, certPath, keyPath);
  }

  /** A self-signed authority that can be anything, in a directory of its own. */
  static odd(parent: string, request: CertificateRequest): TestAuthority {
    const directory = mkdtempSync(join(parent, 'root-'));
    const [certPath, keyPath] = [join(directory, 'ca.pem'), join(directory, 'ca.key')];
    const authority = new TestAuthority(directory, certPath, keyPath);
    const selfSigned = ['-selfsign', '-keyfile', keyPath];
    const made = authority.sign(
      request,
      [...(request.key ?? PUBLIC_KEY), '-keyout', keyPath],
      keyPath,
      selfSigned,
    );
    writeFileSync(certPath, made.cert);
    return authority;
  }

  /** An authority below this one. */
  intermediate(name: string, pathLength = 0): TestAuthority {
    const extensions = [
      `basicConstraints=critical,CA:TRUE,pathlen:${pathLength}`,
      'keyUsage=critical,keyCertSign,cRLSign',
    ];
    return TestAuthority.under(this, { subject: `/O=Acme/CN=${name}`, usage: null, extensions });
  }

  /** Whatever this authority issues, used as an authority. */
  static under(above: TestAuthority, request: CertificateRequest): TestAuthority {
    return TestAuthority.of(above.issue(request), above.directory);
  }

  /** A client's certificate, used as an authority. */
  static of({ certPath, keyPath }: IssuedCertificate, parent: string): TestAuthority {
    return new TestAuthority(mkdtempSync(join(parent, 'authority-')), certPath, keyPath);
  }

  issue(request: CertificateRequest = {}): IssuedCertificate {
    const keyPath = join(this.directory, `${this.count + 1}.key`);
    return this.sign(request, [...(request.key ?? PUBLIC_KEY), '-keyout', keyPath], keyPath);
  }

  private sign(
    request: CertificateRequest,
    key: readonly string[],
    keyPath: string,
    signer: readonly string[] = [],
  ): IssuedCertificate {
    this.count += 1;
    const path = (ending: string): string => join(this.directory, `${this.count}.${ending}`);
    const certPath = path('pem');
    const subject = ['-utf8', '-subj', request.subject ?? '/O=Acme/CN=Nobody'];
    openssl(['req', '-new', ...key, '-out', path('csr'), ...subject]);
    writeFileSync(path('ext'), extensionsOf(request));
    const dates = [
      ...(request.from === undefined ? [] : ['-startdate', request.from]),
      ...(request.until === undefined ? ['-days', '30'] : ['-enddate', request.until]),
    ];
    openssl(
      ['ca', '-batch', '-notext', '-utf8', '-config', join(this.directory, 'ca.cnf'), ...signer],
      ['-in', path('csr'), '-out', certPath, '-extfile', path('ext'), ...dates],
      request.signing ?? [],
    );
    return readCertificate(certPath, keyPath);
  }

  /** Signs the name and the key of another authority (cross-certification). */
  certify(other: TestAuthority, request: CertificateRequest = {}): IssuedCertificate {
    const extensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'];
    const subject = `/${new X509Certificate(other.cert).subject.replaceAll('\n', '/')}`;
    const signed = { usage: null, extensions, subject, ...request };
    return this.sign(signed, ['-key', other.keyPath], other.keyPath);
  }

  /** Revokes what this authority issued; {@link revocationList} says so from then on. */
  revoke({ certPath }: IssuedCertificate): void {
    openssl(['ca', '-config', join(this.directory, 'ca.cnf'), '-revoke', certPath]);
  }

  /** @param seconds until the next one is due */
  revocationList(seconds = 86_400): string {
    const path = join(this.directory, 'list.pem');
    const validity = ['-crlsec', String(seconds), '-out', path];
    openssl(['ca', '-gencrl', '-config', join(this.directory, 'ca.cnf'), ...validity]);
    return readFileSync(path, 'utf8');
  }

  /** Arguments of `openssl ocsp` for a responder that answers from what this authority issued. */
  respondsAs(signer: Pick<IssuedCertificate, 'certPath' | 'keyPath'> = this): string[] {
    const index = join(this.directory, 'index.txt');
    const files = ['-rsigner', signer.certPath, '-rkey', signer.keyPath, '-CA', this.certPath];
    return ['ocsp', '-index', index, ...files, '-rmd', 'sha256', '-ignore_err'];
  }

  get cert(): string {
    return readFileSync(this.certPath, 'utf8');
  }

  get key(): string {
    return readFileSync(this.keyPath, 'utf8');
  }

  get der(): Buffer {
    return derOf(this.cert);
  }
}

/** A private directory for certificates, and what removes it. */
export function certificateDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-certificates-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A self-signed certificate. */
export function selfSigned(directory: string, name: string, names: string): IssuedCertificate {
  const [certPath, keyPath] = [join(directory, `${name}.pem`), join(directory, `${name}.key`)];
  openssl(
    ['req', '-x509', ...PUBLIC_KEY, '-keyout', keyPath, '-out', certPath, '-days', '30'],
    ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`],
    ['-addext', 'extendedKeyUsage=clientAuth'],
  );
  return readCertificate(certPath, keyPath);
}

function readCertificate(certPath: string, keyPath: string): IssuedCertificate {
  const cert = readFileSync(certPath, 'utf8');
  return { certPath, keyPath, cert, key: readFileSync(keyPath, 'utf8'), der: derOf(cert) };
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64');
}

function extensionsOf(request: CertificateRequest): string {
  const { names = [], encodedNames = [], usage = 'clientAuth', extensions = [] } = request;
  const encoded = Buffer.concat([...encodedNames]);
  const sequence = Buffer.concat([Buffer.of(0x30, encoded.length), encoded]).toString('hex');
  // A section, as commas in it belong to the values.
  const section = names.map((name, index) => {
    const colon = name.indexOf(':');
    return `${name.slice(0, colon)}.${index}=${name.slice(colon + 1)}`;
  });
  return [
    ...(names.length > 0 ? ['subjectAltName=@names'] : []),
    ...(encoded.length > 0 ? [`subjectAltName=DER:${sequence}`] : []),
    ...(usage === null ? [] : [`extendedKeyUsage=${usage}`]),
    ...(request.keyIds ?? KEY_IDS),
    ...extensions,
    '[names]',
    ...section,
    '',
  ].join('\n');
}

function openssl(...parts: readonly (readonly string[])[]): void {
  execFileSync('openssl', parts.flat(), { stdio: 'pipe', timeout: 60_000 });
}
