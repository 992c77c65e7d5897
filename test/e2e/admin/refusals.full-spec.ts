import { randomUUID } from 'node:crypto';
import { RISC, SsfTransmitter } from '../../fakes/ssf-transmitter.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { ScimFixture } from '../../fixtures/scim-fixture.js';
import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import { call, refusalOf, type Answer, type Json } from '../../helpers/client.js';

const AUDIENCE = 'https://gate.example.com';
const INACTIVE = [{ op: 'replace', value: { active: false } }];
const REASON = 'returns from leave';

interface EndOptions {
  readonly token?: string;
  readonly reason?: unknown;
  readonly provider?: string;
}

describe.each(['oid', 'externalId'] as const)(
  'refusals of people without an account, matched by %s',
  (match) => {
    let fixture: OffboardingFixture;
    let scim: ScimFixture;
    let transmitter: SsfTransmitter;
    let tokens: AdminTokensFile;
    let server: Server;
    let url: string;
    let providers: string;

    beforeAll(async () => {
      fixture = await OffboardingFixture.open();
      scim = new ScimFixture(fixture);
      [tokens, transmitter] = await Promise.all([
        AdminTokensFile.create(),
        SsfTransmitter.start(AUDIENCE),
      ]);
      const [people, guild] = JSON.parse(scim.providers({ match })) as [Json, Json];
      const sharedSignals = { transmitter: transmitter.issuer, audience: AUDIENCE };
      const signals = { ...(people['signals'] as Json), sharedSignals };
      providers = JSON.stringify([{ ...people, signals }, guild]);
      server = await fixture.start({
        ...KEYLESS,
        ...tokens.env,
        AUTH_PROVIDERS_CONFIG_JSON: providers,
        AUTH_ACCESS_CACHE_SECONDS: '0',
      });
      url = await adminUrlOf(server);
    });
    afterAll(async () => {
      await fixture.close();
      await transmitter.close();
    });

    const end = (
      name: unknown,
      { token = tokens.operator, reason = REASON, provider = 'people' }: EndOptions = {},
    ): Promise<Answer> =>
      call({ url }, 'POST', `/admin/v1/signals/${provider}/end-refusal`, {
        token,
        body: { name, reason },
      });
    const ended = async (name: string): Promise<unknown> => {
      const { status, body } = await end(name);
      return status === 200 ? body['changed'] : status;
    };
    const isAdmitted = (sub: string): Promise<boolean> =>
      fixture.keylessLogin(server, sub).then(
        () => true,
        () => false,
      );
    const auditOf = async (subject: string): Promise<Json[]> => {
      const { rows } = await fixture.sql.query<Json>(
        `SELECT actor, account_id, provider, reason, address IS NOT NULL AS has_address
         FROM audit_event WHERE kind = 'refusal-ended' AND subject = $1`,
        [subject],
      );
      return rows;
    };
    const isRefusedInList = async (id: string): Promise<unknown> => {
      const calls = new AdminCalls(url, tokens.reader);
      const people = (await calls.get('/signals/people/unmatched?limit=200')).body['people'];
      return (people as readonly Json[]).find((person) => person['id'] === id)?.['isRefused'];
    };

    /** Adds a person, and deactivates them in the directory. */
    async function deactivated() {
      const person = { sub: randomUUID(), oid: randomUUID(), userName: `u-${randomUUID()}` };
      fixture.provider.oids.set(person.sub, person.oid);
      const externalId = match === 'oid' ? person.oid : person.sub;
      const id = await scim.add(server, { userName: person.userName, externalId });
      expect((await scim.patch(server, id, INACTIVE)).status).toBe(200);
      return { ...person, id, externalId };
    }

    async function disable(email: string): Promise<void> {
      const subject = { format: 'email', email };
      const { status } = await call(server, 'POST', '/v1/signals/people', {
        body: await transmitter.event(`${RISC}account-disabled`, subject),
        headers: { 'content-type': 'application/secevent+jwt' },
      });
      expect(status).toBe(202);
    }

    it('admits a person of the list again, in the name of the administrator', async () => {
      const { id, sub, externalId } = await deactivated();
      expect(await isRefusedInList(id)).toBe(true);
      expect(await ended(id)).toBe(true);
      expect(await isRefusedInList(id)).toBe(false);
      const by = { actor: 'alice', account_id: null, provider: 'people', reason: REASON };
      expect(await auditOf(externalId)).toEqual([{ ...by, has_address: true }]);
      expect(await ended(id)).toBe(false);
      expect(await auditOf(externalId)).toHaveLength(1);
      expect(await isAdmitted(sub)).toBe(true);
    });

    it('refuses the person again at the next request of the directory', async () => {
      const { id, sub } = await deactivated();
      expect(await ended(id)).toBe(true);
      expect((await scim.patch(server, id, INACTIVE)).status).toBe(200);
      expect(await isRefusedInList(id)).toBe(true);
      expect(await isAdmitted(sub)).toBe(false);
    });

    it.each(['externalId', 'userName', 'sub'] as const)(
      'admits a person who was refused at a login, by the name %s',
      async (key) => {
        const person = await deactivated();
        expect(await isAdmitted(person.sub)).toBe(false);
        expect(await ended(person[key])).toBe(true);
        expect(await isAdmitted(person.sub)).toBe(true);
      },
    );

    it('admits a person deleted from the directory', async () => {
      const { id, sub, externalId } = await deactivated();
      expect((await scim.send(server, 'DELETE', `/Users/${id}`)).status).toBe(204);
      expect(await ended(externalId)).toBe(true);
      expect(await ended(externalId)).toBe(false);
      expect(await isAdmitted(sub)).toBe(true);
    });

    it('ends the refusal of an address that no identity has', async () => {
      const sub = randomUUID();
      const email = `Ada.${sub}@example.com`;
      fixture.provider.emails.set(sub, { email, isVerified: true });
      await disable(email);
      expect(await ended(email.toUpperCase())).toBe(true);
      expect(await auditOf(email.toUpperCase())).toMatchObject([{ actor: 'alice' }]);
      expect(await isAdmitted(sub)).toBe(true);
    });

    it('shows and ends an event about the address of an active person of the list', async () => {
      const [sub, userName] = [randomUUID(), randomUUID()];
      const email = `${sub}@example.com`;
      const id = await scim.add(server, { userName, emails: [{ value: email }] });
      expect(await isRefusedInList(id)).toBe(false);
      await disable(email);
      expect(await isRefusedInList(id)).toBe(true);
      expect(await ended(id)).toBe(true);
      expect(await isRefusedInList(id)).toBe(false);
    });

    it('leaves the refusal of an account to those who enable it', async () => {
      const person = await fixture.keylessLogin(server);
      const oid = randomUUID();
      await fixture.sql.query(
        `UPDATE identity SET facts = COALESCE(facts, '{}') || $2 WHERE subject = $1`,
        [person.sub, JSON.stringify({ oid })],
      );
      const externalId = match === 'oid' ? oid : person.sub;
      const id = await scim.add(server, { userName: randomUUID(), externalId });
      expect((await scim.patch(server, id, INACTIVE)).status).toBe(200);
      for (const name of [id, externalId, person.sub]) {
        expect(await ended(name)).toBe(false);
      }
      expect(await isAdmitted(person.sub)).toBe(false);
      const operator = new AdminCalls(url, tokens.operator);
      expect((await operator.act(person.accountId, 'enable')).body['changed']).toBe(true);
      expect(await isAdmitted(person.sub)).toBe(true);
    });

    it('refuses readers, strangers, unknown providers, and calls without a name or a reason', async () => {
      const { id } = await deactivated();
      expect(refusalOf(await end(id, { token: tokens.reader }))).toEqual({
        ...{ status: 403, code: 'admin-role-required' },
      });
      expect((await end(id, { token: 'x'.repeat(43) })).status).toBe(401);
      expect((await end(id, { provider: 'unknown' })).status).toBe(404);
      for (const name of [undefined, '', 7, 'a\0b', 'x'.repeat(321)]) {
        expect(refusalOf(await end(name))).toEqual({ status: 400, code: 'invalid-request' });
      }
      for (const reason of [undefined, ' ', 'x'.repeat(201)]) {
        expect((await end(id, { reason: reason ?? null })).status).toBe(400);
      }
      expect(await isRefusedInList(id)).toBe(true);
      expect(await ended(randomUUID())).toBe(false);
      expect((await end(id, { provider: 'guild' })).body['changed']).toBe(false);
    });

    it('changes once and stores one event for 50 calls at once', async () => {
      const { id, externalId, userName } = await deactivated();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => end([id, externalId, userName][at % 3])),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(answers.filter(({ body }) => body['changed'] === true)).toHaveLength(1);
      expect(await auditOf(externalId)).toHaveLength(1);
    });

    describe('at the command line', () => {
      let user: CliUser;

      beforeAll(async () => {
        user = await createCliUser();
      });

      it.each(['on the database', 'through a server'])('ends a refusal %s', async (way) => {
        const isDirect = way === 'on the database';
        const env: Record<string, string> = isDirect
          ? { ...fixture.store.env, AUTH_PROVIDERS_CONFIG_JSON: providers }
          : { GATEHOUSE_ADMIN_URL: url, GATEHOUSE_ADMIN_TOKEN: tokens.operator };
        const by = isDirect ? ['--actor', 'bob'] : [];
        const run = (provider: string, name: string) =>
          user.run(
            ['signals', 'end-refusal', provider, name, '--reason', REASON, ...by, '--json'],
            { ...env, SERVICE_PUBLIC_URL: 'http://127.0.0.1:1' },
          );
        const { sub, userName, externalId } = await deactivated();
        const actor = isDirect ? 'bob' : 'alice';
        for (const changed of [true, false]) {
          const { code, stdout, stderr } = await run('people', userName);
          expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
          expect(JSON.parse(stdout)).toMatchObject({ name: userName, changed, actor });
        }
        expect(await auditOf(externalId)).toMatchObject([{ actor, has_address: !isDirect }]);
        expect(await isAdmitted(sub)).toBe(true);
        const unknown = await run('unknown', userName);
        expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('no provider')]);
      });
    });
  },
);
