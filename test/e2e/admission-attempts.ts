import { createHash, randomInt, randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { drawInvitationCode } from '../../src/policy/flow/invitation-code.js';
import {
  call,
  challengedLogin,
  makeDeviceKey,
  type Answer,
  type DeviceKey,
  type Json,
  type Login,
} from '../helpers/client.js';
import type { Row } from '../helpers/covering-array.js';
import type { Store } from '../helpers/server-store.js';
import type { Server } from '../helpers/server.js';
import type { ServerLane } from '../helpers/server-lane.js';
import { MTLS } from './admission-factors.js';
import type { Oidc } from './external-oidc.js';
import { comeBack, connectFinalize, finalize, hashOf, params } from './external-world.js';
import { finish } from './keyless-calls.js';

/** Servers one after the other on one store, with accounts of each kind. */
export interface Lane {
  readonly host: ServerLane;
  readonly store: Store;
  readonly port: number;
  readonly sql: Client;
  readonly oidc: Oidc;
  readonly key: DeviceKey;
  readonly keyed: Login;
  /** Of the known certificate. */
  readonly keyless: Login;
  /** Of the known user. */
  readonly keylessByOAuth: Login;
}

export const KNOWN_USER = 'known';
export const KNOWN_CERTIFICATE = 'known';

/** What is tried for an entry: the refusals met on the way, or the answer at its end. */
export type Attempt = (server: Server, lane: Lane) => Promise<Answer[]>;

export const KEY = 'key_challenge';

/** Only in the list that older clients read. */
export const INVITED = 'invitation provision keyed';

const fresh = (): string => `user-${randomUUID()}`;

async function withKey(server: Server, key: DeviceKey, more: Json = {}): Promise<Answer[]> {
  const body = { ...(await challengedLogin(server, key)), ...more };
  return [await call(server, 'POST', '/v1/auth', { body })];
}

/** With a new invitation in the lane's database. */
async function withInvitation(server: Server, { sql }: Lane): Promise<Answer[]> {
  const code = drawInvitationCode((bound) => randomInt(bound));
  await sql.query(
    `INSERT INTO invitation (id, code_hash, uses, created_by, created_at, expires_at)
     VALUES ($1, $2, 1, 'alice', now(), now() + interval '1 hour')`,
    [randomUUID(), createHash('sha256').update(code).digest()],
  );
  return withKey(server, makeDeviceKey(), { invitation: code });
}

/**
 * Begins in each mode, as a client that does not ask discovery would, and finishes as wanted.
 *
 * @returns the refusals of beginnings in the wanted mode, and the answers at the end
 */
export async function throughProvider(
  server: Server,
  user: string,
  wanted: 'keyed' | 'keyless',
  end: (pending: string, proof: string) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const mode of wanted === 'keyed' ? ['keyed', 'keyless'] : ['keyless', 'keyed']) {
    const proof = randomUUID();
    const begun = await params(server, 'okta', { mode, proofHash: hashOf(proof) });
    if (begun.status === 200) {
      const { pending } = await comeBack(String(begun.body['url']), user);
      answers.push(await end(pending ?? '', proof));
    } else if (mode === wanted) {
      answers.push(begun);
    }
    if (answers.at(-1)?.status === 200) {
      break;
    }
  }
  return answers;
}

async function connectThrough(server: Server, { token }: Login): Promise<Answer[]> {
  const user = fresh();
  const begun = await call(server, 'GET', '/v1/connect/external/okta/params', { token });
  if (begun.status !== 200) {
    return [begun];
  }
  const { pending } = await comeBack(String(begun.body['url']), user);
  return [await connectFinalize(server, pending, token)];
}

/** What the trusted proxy says of a certificate, for every source of identities. */
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

/** What the certificate of a name is known by. */
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
  'okta connect keyed': (server, lane) => connectThrough(server, lane.keyed),
  'okta connect keyless': (server, lane) => connectThrough(server, lane.keyless),
  'okta provision keyed': (server) =>
    throughProvider(server, fresh(), 'keyed', (pending, proof) =>
      finalize(server, pending, makeDeviceKey(), { proof }),
    ),
  'okta login keyless': (server) =>
    throughProvider(server, KNOWN_USER, 'keyless', (pending, proof) =>
      finish(server, { pending, proof }),
    ),
  'okta provision keyless': (server) =>
    throughProvider(server, fresh(), 'keyless', (pending, proof) =>
      finish(server, { pending, proof }),
    ),
  'mtls connect keyed': (server, lane) => connectCertificate(server, lane.keyed),
  'mtls connect keyless': (server, lane) => connectCertificate(server, lane.keylessByOAuth),
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

/** The variables with rules about certificates. */
export const RULES = {
  domain: `${MTLS}ALLOWED_EMAIL_DOMAINS`,
  issuer: `${MTLS}ALLOWED_ISSUERS`,
} as const;

/** Entries that others may use, with certificates that the rules exclude. */
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
