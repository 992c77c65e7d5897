import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import type { GoogleWorkspaceSettings } from '../../src/server/config/providers-file/provider-settings.js';
import {
  startLocalServer,
  type Answer,
  type Fault,
  type LocalRequest,
  type LocalServer,
} from '../helpers/local-server.js';

const ADMIN = 'admin@acme.example';
const SERVICE_ACCOUNT = 'gatehouse@acme-project.iam.gserviceaccount.com';
const KEY_ID = 'key-1';
const API = '/admin/directory/v1';
const SCOPE = 'https://www.googleapis.com/auth/admin.directory';
const NEEDED_SCOPES = [`${SCOPE}.group.readonly`, `${SCOPE}.user.readonly`];

const BAD_TIMES =
  'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.';

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

export interface WorkspaceUser {
  readonly primaryEmail: string;
  suspended?: boolean;
  archived?: boolean;
}

/** Google's token endpoint for service accounts and its Directory API, with its errors. */
export class FakeGoogleWorkspace {
  readonly users = new Map<string, WorkspaceUser>();
  /** Direct members (ids of users, addresses of groups) by the address of a group. */
  readonly groups = new Map<string, string[]>();
  /** Faults by path, without the prefix of the API; `*` is every request. */
  readonly faults = new Map<string, Fault>();
  /** The method, path and `userKey` of requests. */
  readonly requests: string[] = [];
  readonly directory = mkdtempSync(join(tmpdir(), 'gatehouse-google-'));
  pageSize = 200;
  tokenLifetimeSeconds = 3599;
  /** Scopes that the Admin console delegates. An empty list means no delegation. */
  delegatedScopes: readonly string[] = NEEDED_SCOPES;
  /** False if the role of the administrator has no privileges. */
  isAdminAuthorized = true;
  /** False if the API is not enabled in the project. */
  isApiEnabled = true;
  isRateLimited = false;
  clockAheadMs = 0;
  /** Users of other organizations, or outside the role, hidden from every administrator. */
  readonly foreign = new Set<string>();
  private accepted: KeyObject = keys.publicKey;
  private readonly tokens = new Set<string>();
  private server!: LocalServer;

  static async start(): Promise<FakeGoogleWorkspace> {
    const google = new FakeGoogleWorkspace();
    google.server = await startLocalServer((request) => google.answer(request));
    google.users.set('admin-id', { primaryEmail: ADMIN });
    google.writeKey();
    return google;
  }

  get url(): string {
    return this.server.url;
  }

  get keyFile(): string {
    return join(this.directory, 'service-account.json');
  }

  get settings(): GoogleWorkspaceSettings {
    return {
      serviceAccountKeyFile: this.keyFile,
      adminEmail: ADMIN,
      nestedGroups: false,
      directoryUrl: this.url,
    };
  }

  close(): Promise<void> {
    return this.server.close();
  }

  /** @param changes of the fields, such as another `client_email` */
  writeKey(changes: object = {}): void {
    this.writeFile({ private_key: pemOf(keys.privateKey), ...changes });
  }

  /** Deletes the key of the service account, and creates another one. */
  rotateKey(): void {
    this.accepted = otherKeys.publicKey;
    this.tokens.clear();
    this.writeFile({ private_key: pemOf(otherKeys.privateKey) });
  }

  forgetTokens(): void {
    this.tokens.clear();
  }

  setGroups(user: string, ...groups: readonly string[]): void {
    this.groups.forEach((members) =>
      members.splice(0, Infinity, ...members.filter((one) => one !== user)),
    );
    groups.forEach((group) => this.groups.set(group, [...(this.groups.get(group) ?? []), user]));
  }

  count(path: string): number {
    return this.requests.filter((one) => one.startsWith(path)).length;
  }

  private writeFile(changes: object): void {
    const file = {
      type: 'service_account',
      project_id: 'acme-project',
      private_key_id: KEY_ID,
      client_email: SERVICE_ACCOUNT,
      client_id: '104711',
      token_uri: `${this.url}/token`,
      ...changes,
    };
    writeFileSync(this.keyFile, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  }

  private answer({ method, url, headers, body }: LocalRequest): Promise<Answer> | Answer | Fault {
    const path = url.pathname.replace(API, '');
    this.requests.push(`${method} ${path} ${url.searchParams.get('userKey') ?? ''}`.trim());
    const fault = this.faults.get(path) ?? this.faults.get('*');
    if (fault !== undefined) {
      return fault;
    }
    if (path === '/token') {
      return this.token(new URLSearchParams(body));
    }
    if (!this.tokens.has((headers['authorization'] ?? '').replace('Bearer ', ''))) {
      return refusal(401, 'authError', 'Invalid Credentials');
    }
    return url.pathname.startsWith(API) ? this.read(path, url.searchParams) : { status: 404 };
  }

  private async token(form: URLSearchParams): Promise<Answer> {
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      return { status: 400, json: { error: 'unsupported_grant_type' } };
    }
    const invalid = (description: string): Answer => ({
      status: 400,
      json: { error: 'invalid_grant', error_description: description },
    });
    let claims: JWTPayload;
    try {
      claims = await this.claimsIn(form.get('assertion') ?? '');
    } catch (error) {
      const isLate = error instanceof errors.JWTExpired;
      return invalid(isLate ? BAD_TIMES : 'Invalid JWT Signature.');
    }
    const { iss, sub, scope, exp = 0, iat = 0 } = claims;
    if (exp - iat > 3600) {
      return invalid(BAD_TIMES);
    }
    if (iss !== SERVICE_ACCOUNT) {
      return invalid('Invalid grant: account not found');
    }
    if (sub !== ADMIN) {
      return invalid('Invalid email or User ID');
    }
    const scopes = String(scope).split(' ');
    if (!scopes.every((one) => this.delegatedScopes.includes(one))) {
      return { status: 401, json: { error: 'unauthorized_client' } };
    }
    const token = randomUUID();
    this.tokens.add(token);
    const json = { access_token: token, expires_in: this.tokenLifetimeSeconds };
    return { status: 200, json: { ...json, token_type: 'Bearer' } };
  }

  private async claimsIn(assertion: string): Promise<JWTPayload> {
    const { payload, protectedHeader } = await jwtVerify(assertion, this.accepted, {
      audience: `${this.url}/token`,
      algorithms: ['RS256'],
      maxTokenAge: '1h',
      currentDate: new Date(Date.now() + this.clockAheadMs),
      requiredClaims: ['iss', 'sub', 'scope', 'exp', 'iat'],
    });
    if (protectedHeader.kid !== KEY_ID) {
      throw new Error('The key is not known.');
    }
    return payload;
  }

  private read(path: string, query: URLSearchParams): Answer {
    if (!this.isApiEnabled) {
      return refusal(403, 'accessNotConfigured', 'Admin SDK API has not been used in project 1.');
    }
    if (this.isRateLimited) {
      return refusal(403, 'quotaExceeded', 'Quota exceeded for quota metric.');
    }
    const [, kind, key = ''] = path.split('/');
    const wanted = kind === 'users' ? decodeURIComponent(key) : (query.get('userKey') ?? '');
    if (!this.isAdminAuthorized || this.foreign.has(wanted)) {
      return refusal(403, 'forbidden', 'Not Authorized to access this resource/api');
    }
    const [id, user] =
      [...this.users].find(([one, { primaryEmail }]) => [one, primaryEmail].includes(wanted)) ?? [];
    if (kind === 'users' && user !== undefined) {
      return { status: 200, json: { id, ...user } };
    }
    const isGroup = this.groups.has(wanted);
    return kind === 'groups' && (user !== undefined || isGroup)
      ? this.page(id ?? wanted, query)
      : refusal(404, 'notFound', 'Resource Not Found: userKey');
  }

  private page(member: string, query: URLSearchParams): Answer {
    const all = [...this.groups].filter(([, members]) => members.includes(member));
    const from = Number(query.get('pageToken') ?? 0);
    const until = from + Math.min(this.pageSize, Number(query.get('maxResults') ?? 200));
    const page = all.slice(from, until).map(([email]) => ({ email }));
    const json = {
      ...(page.length > 0 && { groups: page }),
      ...(until < all.length && { nextPageToken: String(until) }),
    };
    return { status: 200, json };
  }
}

function refusal(code: number, reason: string, message: string): Answer {
  const errors = [{ message, domain: 'global', reason }];
  return { status: code, json: { error: { code, message, errors } } };
}
