import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareHttp } from '../compare-http.mjs';
import { POOL_SIZE } from '../gatehouse.mjs';

const name = 'mtls';
const IDENTITIES = 16;

const MTLS = {
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1',
  SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION: '1',
  SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS: '1',
  SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES: '127.0.0.1',
  SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET: 'ingress-nginx',
};

export const group = {
  name,
  run: async (context) => [
    await compareHttp(context, {
      name,
      work: '`POST /v1/auth/mtls` forwarded, known identity',
      limitFile: 'mtls.mjs',
      env: MTLS,
      least: 0.6,
      goal: 0.95,
      prepare: async ({ url }) => {
        const people = [];
        for (let index = 0; index < IDENTITIES; index += 1) {
          people.push(await firstLogin(url, context.directory, index));
        }
        return {
          limitInput: {
            databaseUrl: context.databaseUrl,
            poolSize: POOL_SIZE,
            token: people[0].token,
            subjects: people.map(({ certificate, subject }) => [certificate, subject]),
          },
          requests: people.map(({ headers }) => ({
            method: 'POST',
            path: '/v1/auth/mtls',
            headers,
          })),
        };
      },
    }),
  ],
};

async function firstLogin(url, directory, index) {
  const email = `person-${index}@bench.example`;
  const certificate = encodeURIComponent(makeCertificate(directory, email));
  const headers = { 'ssl-client-verify': 'SUCCESS', 'ssl-client-cert': certificate };
  const response = await fetch(`${url}/v1/auth/mtls`, { method: 'POST', headers });
  if (!response.ok) {
    throw new Error(`The first login was answered ${response.status}.`);
  }
  const { token } = await response.json();
  return { certificate, headers, token, subject: `san_email:${email}` };
}

/** RSA with 2048 bits, as most of them are. */
function makeCertificate(directory, email) {
  const path = join(directory, `${email}.pem`);
  const { status, stderr } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=Person'],
      ...['-keyout', join(directory, `${email}.key`), '-out', path],
      ...['-addext', `subjectAltName=email:${email}`, '-addext', 'extendedKeyUsage=clientAuth'],
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) {
    throw new Error(`openssl failed: ${stderr}`);
  }
  return readFileSync(path, 'utf8');
}
