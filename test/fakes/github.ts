import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { jwtVerify } from 'jose';
import {
  startLocalServer,
  type Answer,
  type Fault,
  type LocalRequest,
  type LocalServer,
} from '../helpers/local-server.js';
import { CLIENT } from './openid-provider.js';

const API = '/api/v3';
export const APP_ID = '4711';
export const INSTALLATION_ID = '99';

const appKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const APP_PRIVATE_KEY = appKeys.privateKey
  .export({ type: 'pkcs1', format: 'pem' })
  .toString();

export interface FakePerson {
  readonly id: number;
  login: string;
  readonly orgs: Record<string, 'active' | 'pending'>;
  /** The state of the membership, by team as `org/slug`. */
  readonly teams?: Record<string, 'active' | 'pending'>;
  /** Set while the person is suspended, as an Enterprise Server reports it. */
  suspendedAt?: string;
}

interface Grant {
  readonly person: FakePerson;
  readonly challenge: string | null;
}

/** GitHub's OAuth and the REST calls that Gatehouse makes, on one port like an Enterprise Server. */
export class FakeGitHub {
  readonly requests: string[] = [];
  /** Faults by path (of the API without its prefix); `*` is every call of the API. */
  readonly faults = new Map<string, Fault>();
  readonly people: FakePerson[] = [];
  browser: FakePerson | null = null;
  /** Scopes of new tokens; null means a token of a GitHub App, which names none. */
  scopes: string | null = 'read:org';
  installationPermissions: Record<string, string> = { members: 'read' };
  installedIn = 'acme';
  /** The ids of organisations, by their current name in lower case. */
  readonly organizations = new Map([
    ['acme', 9001],
    ['other', 9002],
  ]);
  /** Teams as `org/slug`. Secret ones are visible to their members and to apps only. */
  readonly teams = new Map<string, 'closed' | 'secret'>();
  installationTokenLifetimeMs = 3_600_000;
  /** The lifetime in seconds; 0 means that user tokens do not expire. */
  userTokenLifetime = 0;
  readonly userTokens = new Map<string, { person: FakePerson; scopes: string | null }>();
  readonly refreshTokens = new Map<string, FakePerson>();
  private readonly installationTokens = new Set<string>();
  private readonly codes = new Map<string, Grant>();
  private server!: LocalServer;

  static async start(): Promise<FakeGitHub> {
    const gitHub = new FakeGitHub();
    gitHub.server = await startLocalServer((request) => gitHub.answer(request));
    return gitHub;
  }

  get url(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  add(person: FakePerson): FakePerson {
    this.people.push(person);
    return person;
  }

  /** Opens the authorization address as a browser does; the person agrees and is redirected. */
  async authorize(url: URL): Promise<URL> {
    const response = await fetch(url, { redirect: 'manual' });
    return new URL(response.headers.get('location') ?? '');
  }

  /** Its name is then free for another organisation. */
  renameOrganization(from: string, to: string): void {
    rename(this.organizations, from, to);
    for (const [team, visibility] of [...this.teams]) {
      this.teams.delete(team);
      this.teams.set(team.replace(`${from}/`, `${to}/`), visibility);
    }
    for (const { orgs, teams = {} } of this.people) {
      for (const [key, state] of Object.entries(orgs).filter(([org]) => org === from)) {
        delete orgs[key];
        orgs[to] = state;
      }
      for (const [key, state] of Object.entries(teams)) {
        delete teams[key];
        teams[key.replace(`${from}/`, `${to}/`)] = state;
      }
    }
    this.installedIn = this.installedIn === from ? to : this.installedIn;
  }

  forgetInstallationTokens(): void {
    this.installationTokens.clear();
  }

  private answer(request: LocalRequest): Promise<Answer | Fault> | Answer | Fault {
    const { pathname } = request.url;
    const path = pathname.startsWith(API) ? pathname.slice(API.length) : pathname;
    this.requests.push(path);
    const isApi = path !== pathname;
    const fault = this.faults.get(path) ?? (isApi ? this.faults.get('*') : undefined);
    if (fault !== undefined) {
      return fault;
    }
    return isApi ? this.api(path, request) : this.oauth(path, request);
  }

  private oauth(path: string, request: LocalRequest): Answer {
    if (path === '/login/oauth/authorize' && this.browser !== null) {
      return this.authorization(request.url.searchParams, this.browser);
    }
    if (path === '/login/oauth/access_token') {
      return { status: 200, json: this.accessToken(new URLSearchParams(request.body)) };
    }
    return NOT_FOUND;
  }

  private authorization(parameters: URLSearchParams, person: FakePerson): Answer {
    const code = randomBytes(9).toString('hex');
    const isPkce = parameters.get('code_challenge_method') === 'S256';
    this.codes.set(code, { person, challenge: isPkce ? parameters.get('code_challenge') : null });
    const location = new URL(parameters.get('redirect_uri') ?? '');
    location.searchParams.set('code', code);
    location.searchParams.set('state', parameters.get('state') ?? '');
    return { status: 302, headers: { location: location.href } };
  }

  /** GitHub answers errors of this call with 200. */
  private accessToken(parameters: URLSearchParams): object {
    if (parameters.get('client_secret') !== CLIENT.secret) {
      return { error: 'incorrect_client_credentials' };
    }
    if (parameters.get('grant_type') === 'refresh_token') {
      const refreshToken = parameters.get('refresh_token') ?? '';
      const person = this.refreshTokens.get(refreshToken);
      this.refreshTokens.delete(refreshToken);
      return person === undefined ? { error: 'bad_refresh_token' } : this.userToken(person);
    }
    const code = parameters.get('code') ?? '';
    const grant = this.codes.get(code);
    this.codes.delete(code);
    const verifier = parameters.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    return grant === undefined || grant.challenge !== challenge
      ? { error: 'bad_verification_code' }
      : this.userToken(grant.person);
  }

  private userToken(person: FakePerson): object {
    const token = `gho_${randomBytes(12).toString('hex')}`;
    this.userTokens.set(token, { person, scopes: this.scopes });
    const answer = { access_token: token, token_type: 'bearer', scope: this.scopes ?? '' };
    if (this.userTokenLifetime === 0) {
      return answer;
    }
    const refreshToken = `ghr_${randomBytes(12).toString('hex')}`;
    this.refreshTokens.set(refreshToken, person);
    return { ...answer, expires_in: this.userTokenLifetime, refresh_token: refreshToken };
  }

  private async api(path: string, request: LocalRequest): Promise<Answer> {
    const [first, second, third, fourth, fifth, sixth] = path
      .slice(1)
      .split('/')
      .map(decodeURIComponent);
    const token = (request.headers['authorization'] ?? '').replace(/^Bearer /, '');
    if (first === 'applications' && second === CLIENT.id) {
      const { access_token: checked } = JSON.parse(request.body) as { access_token: string };
      return this.userTokens.has(checked) ? { status: 200, json: {} } : NOT_FOUND;
    }
    if (first === 'app' || (first === 'orgs' && third === 'installation')) {
      return (await isAppToken(token)) ? this.app(path, request) : UNAUTHORIZED;
    }
    const own = this.userTokens.get(token);
    if (own === undefined && !this.installationTokens.has(token)) {
      return UNAUTHORIZED;
    }
    if (first === 'user' && second === 'memberships' && own !== undefined) {
      const seesOrgs = own.scopes?.includes('read:org') === true;
      const answer = this.membership(seesOrgs ? own.person : undefined, path.split('/')[4]);
      return own.scopes === null ? answer : withScopes(answer, own.scopes);
    }
    if (first === 'user') {
      const person =
        second === undefined ? own?.person : this.people.find(({ id }) => String(id) === second);
      return person === undefined ? NOT_FOUND : { status: 200, json: publicly(person) };
    }
    if (first === 'organizations' || (first === 'orgs' && third === undefined)) {
      const found = [...this.organizations].find(([name, id]) =>
        first === 'orgs' ? name === second : String(id) === second,
      );
      return found === undefined ? NOT_FOUND : { status: 200, json: this.organization(found[0]) };
    }
    if (first === 'orgs' && third === 'teams') {
      const seesTeams = own?.scopes?.includes('read:org') ?? true;
      const team = `${second}/${fourth}`;
      return seesTeams
        ? this.team(team, fifth === undefined ? null : sixth, own?.person)
        : NOT_FOUND;
    }
    if (first === 'orgs' && third === 'memberships') {
      const seesMembers = this.installationPermissions['members'] !== undefined;
      const person = this.people.find(({ login }) => login === fourth);
      return this.membership(seesMembers ? person : undefined, second);
    }
    return NOT_FOUND;
  }

  private app(path: string, { method }: LocalRequest): Answer {
    const account = this.organization(this.installedIn);
    const installation = { id: Number(INSTALLATION_ID), account };
    if (path === '/app/installations') {
      return { status: 200, json: [installation] };
    }
    if (path === `/orgs/${this.installedIn}/installation`) {
      return { status: 200, json: installation };
    }
    if (path === `/app/installations/${INSTALLATION_ID}`) {
      return { status: 200, json: installation };
    }
    if (method === 'POST' && path === `/app/installations/${INSTALLATION_ID}/access_tokens`) {
      // The token has the length of the JWT-like tokens that GitHub issues since 2026.
      const token = `ghs_${randomBytes(400).toString('base64url')}`;
      this.installationTokens.add(token);
      const expiresAt = new Date(Date.now() + this.installationTokenLifetimeMs).toISOString();
      const { installationPermissions: permissions } = this;
      return { status: 201, json: { token, permissions, expires_at: expiresAt } };
    }
    return NOT_FOUND;
  }

  /** A team, or the membership of a login in it, which names no id. @param viewer null of an app */
  private team(team: string, login: string | null = null, viewer?: FakePerson): Answer {
    const visibility = this.teams.get(team);
    const isShown = visibility === 'closed' || viewer === undefined || viewer.teams?.[team];
    if (visibility === undefined || !isShown) {
      return NOT_FOUND;
    }
    if (login === null) {
      return { status: 200, json: { slug: team.split('/')[1], privacy: visibility } };
    }
    const state = this.people.find((one) => one.login === login)?.teams?.[team];
    return state === undefined ? NOT_FOUND : { status: 200, json: { state, role: 'member' } };
  }

  private membership(person: FakePerson | undefined, org = ''): Answer {
    const state = person?.orgs[org];
    return person === undefined || state === undefined
      ? NOT_FOUND
      : { status: 200, json: { state, role: 'member', ...this.parties(person, org) } };
  }

  private parties(person: FakePerson, org: string): object {
    return { user: publicly(person), organization: this.organization(org) };
  }

  /** Names keep their case at GitHub. */
  private organization(name: string): object {
    return {
      login: name.replace(/^./, (first) => first.toUpperCase()),
      id: this.organizations.get(name),
    };
  }
}

function rename<Value>(map: Map<string, Value>, from: string, to: string): void {
  const value = map.get(from);
  if (value !== undefined) {
    map.delete(from);
    map.set(to, value);
  }
}

const NOT_FOUND: Answer = { status: 404, json: { message: 'Not Found' } };
const UNAUTHORIZED: Answer = { status: 401, json: { message: 'Bad credentials' } };

function publicly({ id, login, suspendedAt }: FakePerson): object {
  return { id, login, email: null, suspended_at: suspendedAt ?? null };
}

function withScopes(answer: Answer, scopes: string): Answer {
  return { ...answer, headers: { 'x-oauth-scopes': scopes } };
}

async function isAppToken(token: string): Promise<boolean> {
  try {
    const options = { issuer: APP_ID, algorithms: ['RS256'], maxTokenAge: 660 };
    await jwtVerify(token, appKeys.publicKey, options);
    return true;
  } catch {
    return false;
  }
}
