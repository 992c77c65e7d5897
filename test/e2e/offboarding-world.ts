import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { IdentityCredentials } from '../../src/storage/sealing/content-at-rest.js';
import { MasterKeys } from '../../src/storage/sealing/master-keys.js';
import { SealedBox } from '../../src/storage/sealing/sealed-box.js';
import { PeopleProvider } from '../fakes/people-provider.js';
import { call, logIn, type Answer, type Login } from '../helpers/client.js';
import { startServer, type Server } from '../helpers/server.js';
import { createStore, type Store } from '../helpers/server-store.js';
import { waitFor } from '../helpers/wait.js';
import { begin, beginConnect, connectFinalize } from './external-world.js';
import { finish, OPTIONAL } from './keyless-calls.js';

/** A person with an account, a token and a linked identity. */
export interface Person extends Login {
  readonly sub: string;
}

/** Accounts that identities alone open, and no provider is required. */
export const KEYLESS = {
  ...OPTIONAL,
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'people,guild',
  AUTH_REQUIRED_LOGIN_PROVIDERS: '',
};

/** A provider, a real PostgreSQL and Redis, and as many replicas as a test asks for. */
export class OffboardingWorld {
  readonly replicas: Server[] = [];

  private constructor(
    readonly provider: PeopleProvider,
    readonly store: Store,
    readonly sql: Pool,
  ) {}

  static async open(): Promise<OffboardingWorld> {
    const store = await createStore();
    const sql = new Pool({ connectionString: store.databaseUrl ?? '', max: 2 });
    sql.on('error', () => undefined);
    return new OffboardingWorld(await PeopleProvider.start(), store, sql);
  }

  get env(): Record<string, string> {
    return {
      AUTH_REQUIRED_LOGIN_PROVIDERS: 'people',
      AUTH_PROVIDERS_CONFIG_JSON: this.providers(),
      SERVICE_PUBLIC_URL: 'http://127.0.0.1:1',
      AUTH_OFFBOARDING_INTERVAL_SECONDS: '3600',
      // Specs that run beside this one have servers of their own.
      REDIS_URL: `${process.env['TEST_REDIS_URL']}/${process.env['JEST_WORKER_ID']}`,
    };
  }

  /**
   * The value of AUTH_PROVIDERS_CONFIG_JSON: the provider, and once more as `guild`, whose logout tokens
   * need a type.
   */
  providers(change: object = {}): string {
    const entry = { ...this.provider.entry, ...change };
    return JSON.stringify([entry, { ...entry, id: 'guild', logoutTokenType: 'logout+jwt' }]);
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<Server> {
    const server = await startServer({ store: this.store, env: { ...this.env, ...env } });
    this.replicas.push(server);
    return server;
  }

  async stopReplicas(): Promise<void> {
    await Promise.all(this.replicas.splice(0).map((server) => server.stop()));
  }

  async close(): Promise<void> {
    await this.stopReplicas();
    await this.provider.close();
    await this.sql.end();
    await this.store.drop();
  }

  /** An account whose identity was checked a moment ago. */
  async person(server: Server): Promise<Person> {
    const login = await logIn(server);
    const [sub = ''] = await this.link([login.accountId]);
    return { ...login, sub };
  }

  /** Logs a member of staff in to the account that this identity alone opens. */
  async keylessLogin(server: Server, sub: string = randomUUID(), sid?: string): Promise<Person> {
    if (!this.provider.groups.has(sub)) {
      this.provider.add(sub);
    }
    const { url, proof } = await begin(server, 'people', { mode: 'keyless' });
    const pending = await this.pendingOf(server, this.provider.authorize(url, sub, sid));
    const { status, body, text } = await finish(server, { pending, proof }, 'people');
    if (status !== 200) {
      throw new Error(`The login was answered ${status}: ${text}`);
    }
    return { ...(body as unknown as Login), sub };
  }

  /** Links a member of staff, known at the provider under another subject, to the account. */
  async connect(server: Server, { token }: Login, provider: string, sub: string): Promise<Answer> {
    this.provider.add(sub);
    const url = await beginConnect(server, token, provider);
    const pending = await this.pendingOf(server, this.provider.authorize(url, sub));
    return connectFinalize(server, pending, token, provider);
  }

  /** Opens the callback at the server, wherever the registered address leads. */
  async pendingOf(server: Server, callback: URL): Promise<string | undefined> {
    const address = `${server.url}${callback.pathname}${callback.search}`;
    const { headers } = await fetch(address, { redirect: 'manual' });
    return new URL(headers.get('location') ?? '').searchParams.get('pending') ?? undefined;
  }

  /** @returns the subjects, in the order of the accounts */
  async link(accountIds: readonly string[]): Promise<string[]> {
    const secret = this.store.env['SERVICE_MASTER_SECRET'] ?? '';
    const sealing = new IdentityCredentials(new SealedBox(new MasterKeys(secret, [])));
    const subs = accountIds.map(() => randomUUID());
    await this.sql.query(
      `INSERT INTO identity (id, account_id, provider, subject, connected_at, credentials,
         eligibility_status, eligibility_checked_at, eligibility_next_check_at)
       SELECT gen_random_uuid(), *, 'eligible', now(), now() + interval '1 hour' FROM
         unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::bytea[])`,
      [
        accountIds,
        accountIds.map(() => 'people'),
        subs,
        accountIds.map(() => new Date()),
        subs.map((sub, at) => sealing.seal(accountIds[at] ?? '', 'people', this.provider.add(sub))),
      ],
    );
    return subs;
  }

  /** Accounts without logins, linked and due. */
  async crowd(count: number): Promise<string[]> {
    const accountIds = Array.from({ length: count }, () => randomUUID());
    await this.sql.query(
      `INSERT INTO account (id, created_at, key_mode, encryption_mode)
       SELECT id, now(), 'keyless', 'plain' FROM unnest($1::uuid[]) AS id`,
      [accountIds],
    );
    const subs = await this.link(accountIds);
    await this.makeDue();
    return subs;
  }

  /** Moves the calendar of every identity: `ageSeconds` since its last good answer, and due. */
  async makeDue(ageSeconds = 0): Promise<void> {
    await this.sql.query(
      `UPDATE identity SET eligibility_next_check_at = now(),
         eligibility_checked_at = eligibility_checked_at - $1 * interval '1 second'`,
      [ageSeconds],
    );
  }

  async statusOf(server: Server, { token }: Login): Promise<number> {
    return (await call(server, 'GET', '/v1/push-tokens', { token })).status;
  }

  /** Polls until `probe` is true. */
  async until(what: string, probe: () => Promise<boolean> | boolean): Promise<void> {
    await waitFor(() => `${what}: ${this.replicas[0]?.logs().slice(-2000)}`, probe);
  }
}
