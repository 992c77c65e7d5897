import { createHash, randomInt, randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { drawInvitationCode } from '../../../src/core/protocol/invitation-code.js';
import {
  call,
  challengedLogin,
  makeDeviceKey,
  type Answer,
  type DeviceKey,
  type Json,
  type Login,
} from '../../helpers/client.js';
import type { Row } from './covering-array.js';
import type { Store } from '../../fixtures/programs/store-fixture.js';
import type { Server } from '../../fixtures/programs/server-fixture.js';
import { MTLS } from './admission-factors.js';
import type { FakeOpenIdProvider } from '../../fakes/openid-provider.js';
import {
  connectFinalize,
  finalize,
  hashOf,
  params,
  RETURN_BASE,
} from '../../fixtures/provider-login-fixture.js';
import { finish } from '../../helpers/keyless-calls.js';

/** Servers that run one after the other on one store, with accounts of each kind. */
export interface Deployment {
  readonly store: Store;
  readonly port: number;
  readonly sql: Client;
  /** Its person is the one that logs in. */
  readonly oidc: FakeOpenIdProvider;
  readonly key: DeviceKey;
  readonly keyed: Login;
  readonly keyless: Login;
  readonly keylessByOAuth: Login;
}

export const KNOWN_USER = 'known';
export const KNOWN_CERTIFICATE = 'known';

/** Tries an entry, and returns the refusals on the way or the answer at its end. */
export type Attempt = (server: Server, deployment: Deployment) => Promise<Answer[]>;

export const KEY = 'key_challenge';

/** An entry that only the list for older clients contains. */
export const INVITED = 'invitation provision keyed';

const fresh = (): string => `user-${randomUUID()}`;

async function withKey(server: Server, key: DeviceKey, more: Json = {}): Promise<Answer[]> {
  const body = { ...(await challengedLogin(server, key)), ...more };
  return [await call(server, 'POST', '/v1/auth', { body })];
}

async function withInvitation(server: Server, { sql }: Deployment): Promise<Answer[]> {
  const code = drawInvitationCode((bound) => randomInt(bound));
  await sql.query(
    `INSERT INTO invitation (id, code_hash, uses, created_by, created_at, expires_at)
     VALUES ($1, $2, 1, 'alice', now(), now() + interval '1 hour')`,
    [randomUUID(), createHash('sha256').update(code).digest()],
  );
  return withKey(server, makeDeviceKey(), { invitation: code });
}

/** Opens the address of a login as its browser does. @returns the pending login, if it succeeded */
async function logInAtProvider(
  server: Server,
  { oidc }: Pick<Deployment, 'oidc'>,
  user: string,
  url: unknown,
): Promise<string> {
  oidc.person = { sub: user, preferred_username: user, groups: ['engineering'] };
  const { pathname, search } = await oidc.authorize(new URL(String(url)));
  const { status, headers, text } = await call(server, 'GET', `${pathname}${search}`);
  const { location = '' } = headers;
  if (!location.startsWith(RETURN_BASE)) {
    throw new Error(`The callback was answered ${status}: ${location} ${text}`);
  }
  return new URL(location).searchParams.get('pending') ?? '';
}

/**
 * Begins in each mode, as a client without discovery would, and finishes in the wanted one.
 * @returns the refusals of beginnings in the wanted mode, and the answers at the end
 */
export async function throughProvider(
  server: Server,
  deployment: Pick<Deployment, 'oidc'>,
  user: string,
  wanted: 'keyed' | 'keyless',
  end: (pending: string, proof: string) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const mode of wanted === 'keyed' ? ['keyed', 'keyless'] : ['keyless', 'keyed']) {
    const proof = randomUUID();
    const start = await params(server, 'okta', { mode, proofHash: hashOf(proof) });
    if (start.status === 200) {
      const pending = await logInAtProvider(server, deployment, user, start.body['url']);
      answers.push(await end(pending, proof));
    } else if (mode === wanted) {
      answers.push(start);
    }
    if (answers.at(-1)?.status === 200) {
      break;
    }
  }
  return answers;
}

async function connectThrough(
  server: Server,
  deployment: Deployment,
  { token }: Login,
): Promise<Answer[]> {
  const start = await call(server, 'GET', '/v1/connect/external/okta/params', { token });
  if (start.status !== 200) {
    return [start];
  }
  const pending = await logInAtProvider(server, deployment, fresh(), start.body['url']);
  return [await connectFinalize(server, pending, token)];
}

/** Returns the headers of the trusted proxy for a certificate, for every source of identities. */
function certificateHeaders(
  name: string,
  { domain = 'corp.example', issuer = 'Corp CA' } = {},
): Record<string, string> {
  return {
    'x-service-client-cert-email': `${name}@${domain}`,
    'x-service-client-cert-upn': `${name}@${domain}`,
    'x-service-client-cert-subject': `CN=${name}`,
    'x-service-client-cert-sha256': fingerprintOf(name),
    'x-service-client-cert-issuer': `CN=${issuer}`,
  };
}

const fingerprintOf = (name: string): string => createHash('sha256').update(name).digest('hex');

export function subjectOf(name: string, source: string): string {
  const value = { subject_cn: name, fingerprint: fingerprintOf(name) }[source];
  return `${source}:${value ?? `${name}@corp.example`}`;
}

export async function withCertificate(
  server: Server,
  name: string,
  rules: Parameters<typeof certificateHeaders>[1] = {},
): Promise<Answer[]> {
  const headers = certificateHeaders(name, rules);
  return [await call(server, 'POST', '/v1/auth/mtls', { headers })];
}

async function connectCertificate(
  server: Server,
  { token }: Login,
  rules: Parameters<typeof certificateHeaders>[1] = {},
): Promise<Answer[]> {
  const headers = certificateHeaders(fresh(), rules);
  return [await call(server, 'POST', '/v1/connect/certificate', { token, headers })];
}

export const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'key_challenge login keyed': (server, { key }) => withKey(server, key, { create: false }),
  'key_challenge provision keyed': (server) => withKey(server, makeDeviceKey()),
  [INVITED]: withInvitation,
  'okta connect keyed': (server, deployment) =>
    connectThrough(server, deployment, deployment.keyed),
  'okta connect keyless': (server, deployment) =>
    connectThrough(server, deployment, deployment.keyless),
  'okta provision keyed': (server, deployment) =>
    throughProvider(server, deployment, fresh(), 'keyed', (pending, proof) =>
      finalize(server, pending, makeDeviceKey(), { proof }),
    ),
  'okta login keyless': (server, deployment) =>
    throughProvider(server, deployment, KNOWN_USER, 'keyless', (pending, proof) =>
      finish(server, { pending, proof }),
    ),
  'okta provision keyless': (server, deployment) =>
    throughProvider(server, deployment, fresh(), 'keyless', (pending, proof) =>
      finish(server, { pending, proof }),
    ),
  'mtls connect keyed': (server, deployment) => connectCertificate(server, deployment.keyed),
  'mtls connect keyless': (server, deployment) =>
    connectCertificate(server, deployment.keylessByOAuth),
  'mtls login keyless': (server) => withCertificate(server, KNOWN_CERTIFICATE),
  'mtls provision keyless': (server) => withCertificate(server, fresh()),
};

const KEYLESS_OFF = ['403 keyless-disabled', '403 e2ee-required'];
const NOT_CONFIGURED = ['404 unsupported-provider', '400 oauth-not-configured'];

/** The refusals that the contract documents for an entry that is not advertised. */
export const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  'key_challenge login keyed': ['403 key-challenge-disabled'],
  'key_challenge provision keyed': ['403 key-challenge-disabled', '403 signup-disabled'],
  [INVITED]: ['403 key-challenge-disabled', '403 signup-disabled'],
  'okta connect keyed': NOT_CONFIGURED,
  'okta connect keyless': [...NOT_CONFIGURED, ...KEYLESS_OFF],
  'okta provision keyed': [
    ...NOT_CONFIGURED,
    '403 key-challenge-disabled',
    '403 signup-provider-disabled',
  ],
  'okta login keyless': [...NOT_CONFIGURED, ...KEYLESS_OFF],
  'okta provision keyless': [...NOT_CONFIGURED, ...KEYLESS_OFF, '403 signup-provider-disabled'],
  'mtls connect keyed': ['404 not-found', '401 mtls-required'],
  'mtls connect keyless': ['404 not-found', '401 mtls-required', ...KEYLESS_OFF],
  'mtls login keyless': ['404 not-found', '401 mtls-required', ...KEYLESS_OFF],
  'mtls provision keyless': [
    '404 not-found',
    '401 mtls-required',
    ...KEYLESS_OFF,
    '403 signup-provider-disabled',
  ],
};

export const RULES = {
  domain: `${MTLS}ALLOWED_EMAIL_DOMAINS`,
  issuer: `${MTLS}ALLOWED_ISSUERS`,
} as const;

/** Returns the entries that other people may use, with certificates that the rules exclude. */
export function strangers(row: Row, advertised: readonly string[]): [string, Attempt][] {
  const excluded = [
    ...(row[RULES.domain] === '' ? [] : [{ domain: 'other.example' }]),
    ...(row[RULES.issuer] === '' ? [] : [{ issuer: 'Other CA' }]),
  ];
  const attempts = excluded.flatMap((rules): [string, Attempt][] => [
    ['mtls login keyless', (server) => withCertificate(server, KNOWN_CERTIFICATE, rules)],
    ['mtls provision keyless', (server) => withCertificate(server, fresh(), rules)],
    ['mtls connect keyed', (server, { keyed }) => connectCertificate(server, keyed, rules)],
  ]);
  return attempts.filter(([entry]) => advertised.includes(entry));
}
