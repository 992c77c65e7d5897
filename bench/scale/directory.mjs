import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { bearer } from '../client.mjs';
import {
  describeBackend,
  exchange,
  openRelaySocket,
  quantile,
  startRelay,
} from '../guarded-backend.mjs';
import { query } from '../postgres.mjs';
import { residentBytes } from '../processes.mjs';
import { median } from '../report.mjs';
import { startReplicas } from './balanced-replicas.mjs';
import { rowsOf } from './table.mjs';
import { watchAccount } from './watched-account.mjs';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const WATCHED = 50;
const RELAY_SOCKETS = 10;
/** They leave at once, with this many requests at a time. */
const CROWD = 2000;
const AT_ONCE = 50;
/** At the largest size; GATEHOUSE_BENCH_LEAVERS lowers it for a look. */
const LEAVERS = Number(process.env['GATEHOUSE_BENCH_LEAVERS'] ?? 200);
const LOOK_UPS = 200;
const BATCH = 100_000;
const TOKEN = 'a-token-of-the-directory-of-the-bench';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

const ENV = {
  AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta',
  AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
    {
      ...{ id: 'okta', type: 'oidc', issuer: 'https://okta.example' },
      ...{ clientId: 'bench', clientSecret: 'a-client-secret-of-the-bench' },
      allow: { groupsAny: ['staff'] },
      signals: { scim: { token: TOKEN } },
    },
  ]),
};

const FIGURES = [
  ['`GET Users?filter=userName eq …`, one at a time', 'ms'],
  [`PATCH \`active: false\`, until the last of ${WATCHED} sockets on two replicas is closed`, 'ms'],
  ['the same, p99', 'ms'],
  [`the same, to the last of ${RELAY_SOCKETS} sockets of a relay behind the guard`, 'ms'],
  ['the same, p99', 'ms'],
  [`people without an identity deactivated, ${AT_ONCE} requests at a time`, '/s'],
  ['resident memory of a replica', 'MiB'],
];

/** A directory of many people: look-up, and the time from a request to the last closed socket. */
export const group = {
  name: 'directory',
  run: async (context) => {
    const backend = describeBackend(context);
    const env = (url) => ({ ...ENV, ...backend.env, SERVICE_PUBLIC_URL: url });
    const fixture = await startReplicas(context, { count: 2, firstEnv: {}, env });
    const relay = await startRelay(context, backend.guardOptions(fixture.nginx.url));
    const sizes = SIZES.filter((size) => size <= context.most);
    const measured = [];
    let filled = 0;
    for (const size of sizes) {
      console.error(`  ${size} people of a directory`);
      await fill(context, filled, size);
      filled = size;
      const leavers = size === sizes.at(-1) ? LEAVERS : Math.min(LEAVERS, 20);
      measured.push(await measure(context, { ...fixture, relay }, size, leavers));
    }
    await relay.stop();
    await fixture.stop();
    const note = `${LEAVERS} people leave at the largest size, up to 20 at the others.`;
    return [
      {
        ...{ name: 'directory', of: 'people of a directory', sizes },
        rows: rowsOf(FIGURES, measured),
        note,
      },
    ];
  },
};

async function fill({ databaseUrl }, from, to) {
  for (let first = from + 1; first <= to; first += BATCH) {
    await query(
      databaseUrl,
      `INSERT INTO directory_person (id, provider, external_id, user_name, is_active, emails,
         email_values, created_at, changed_at)
       SELECT gen_random_uuid(), 'okta', 'person-' || n, 'person-' || n || '@example.com', true,
         jsonb_build_array(jsonb_build_object('value', 'person-' || n || '@example.com',
           'type', 'work')), ARRAY['person-' || n || '@example.com'], now(), now()
       FROM generate_series($1::int, $2::int) AS n`,
      [first, Math.min(first + BATCH - 1, to)],
      600_000,
    );
  }
  await query(databaseUrl, 'ANALYZE directory_person', [], 600_000);
}

async function measure(context, { nginx, replicas, relay }, size, leavers) {
  const { url } = nginx;
  const lookUps = [];
  for (let index = 0; index < LOOK_UPS; index += 1) {
    const n = 1 + ((index * 7919) % size);
    const filter = encodeURIComponent(`userName eq "person-${n}@example.com"`);
    const startedAt = performance.now();
    const { totalResults } = await scim(url, 'GET', `/Users?filter=${filter}`);
    lookUps.push(performance.now() - startedAt);
    if (totalResults !== 1) {
      throw new Error(`The look-up found ${totalResults} people.`);
    }
  }
  const times = [];
  for (let index = 0; index < leavers; index += 1) {
    times.push(await timeLeaver(context, url, relay));
  }
  const [here, there] = [0, 1].map((at) => times.map((both) => both[at]));
  return [
    median(lookUps),
    ...[median(here), quantile(here, 0.99), median(there), quantile(there, 0.99)],
    await crowdPerSecond(context, url, size),
    residentBytes(replicas[0].pid) / 2 ** 20,
  ];
}

/** @returns deactivations a second */
async function crowdPerSecond({ databaseUrl }, url, size) {
  const people = await query(
    databaseUrl,
    `SELECT id FROM directory_person WHERE subject IS NULL AND is_active LIMIT $1`,
    [Math.min(size, CROWD)],
  );
  const waiting = people.map(({ id }) => id);
  const startedAt = performance.now();
  const work = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      await deactivate(url, id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return people.length / ((performance.now() - startedAt) / 1000);
}

function deactivate(url, id) {
  const Operations = [{ op: 'replace', path: 'active', value: false }];
  return scim(url, 'PATCH', `/Users/${id}`, { schemas: [PATCH], Operations });
}

/**
 * A person with a linked account is deactivated, who has open sockets on both replicas and at a relay.
 *
 * @returns the ms until the last socket of either was closed
 */
async function timeLeaver(context, url, relay) {
  let person;
  const account = await watchAccount(url, WATCHED, async ({ accountId }) => {
    await link(context, accountId);
    person = await scim(url, 'POST', '/Users', { userName: accountId, externalId: accountId });
  });
  const token = await exchange(url, account.token);
  const sockets = await Promise.all(
    Array.from({ length: RELAY_SOCKETS }, () => openRelaySocket(relay.url, token)),
  );
  const startedAt = performance.now();
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  const there = closed.then(() => performance.now() - startedAt);
  const here = await account.timeUntil('disconnect', () => deactivate(url, person.id));
  return [here, await there];
}

function link({ databaseUrl }, accountId) {
  return query(
    databaseUrl,
    `INSERT INTO identity (id, account_id, provider, subject, connected_at, eligibility_status,
       eligibility_checked_at, eligibility_next_check_at)
     VALUES (gen_random_uuid(), $1::uuid, 'okta', $1::text, now(), 'eligible', now(),
       now() + interval '1 day')`,
    [accountId],
  );
}

async function scim(url, method, path, body) {
  const response = await fetch(`${url}/v1/scim/okta/v2${path}`, {
    method,
    headers: { ...bearer(TOKEN), 'content-type': 'application/scim+json' },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  }
  return JSON.parse(text);
}
