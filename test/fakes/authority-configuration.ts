import { join } from 'node:path';

/** Of an authority that `openssl ca` runs in a directory of its own. */
export function authorityConfiguration(
  directory: string,
  certPath: string,
  keyPath: string,
): string {
  return `[ca]
default_ca = own
[own]
database = ${join(directory, 'index.txt')}
crlnumber = ${join(directory, 'crlnumber')}
new_certs_dir = ${directory}
certificate = ${certPath}
private_key = ${keyPath}
default_md = sha256
rand_serial = yes
policy = any
default_crl_days = 1
[any]
countryName = optional
organizationName = optional
organizationalUnitName = optional
commonName = optional
emailAddress = optional
`;
}
