import { once } from 'node:events';
import { BACKEND, describeBackend, startRelay } from '../backend.mjs';
import { request } from '../client.mjs';
import { backendToken, runSql } from '../fixtures.mjs';
import { residentBytes } from '../processes.mjs';
import { measureSizes, median, quantile, sizesUpTo } from '../report.mjs';
import { link, requireProvider } from '../rows/http.mjs';
import { startReplicas } from './replicas.mjs';
import { timeUntil, watchAccount } from './sockets.mjs';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const WATCHED = 50;
const RELAY_SOCKETS = 10;
/** They leave at once, with this many requests at a time. */
const CROWD = 2000;
const AT_ONCE = 50;
const LEAVERS = 200;
const LEAVERS_OF_SMALLER = 20;
const LOOK_UPS = 200;
const TOKEN = 'a-token-of-the-directory-of-the-bench';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

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
export const groups = {
  directory: async (context) => {
    const backend = describeBackend();
    const provider = requireProvider({ signals: { scim: { token: TOKEN } } });
    const env = (url) => ({ ...provider, ...backend.env, SERVICE_PUBLIC_URL: url });
    const fixture = await startReplicas(context, { count: 2, firstEnv: {}, env });
    const relay = await startRelay(backend.guardOptions(fixture.nginx.url));
    const sizes = sizesUpTo(context.most, SIZES);
    let filled = 0;
    const measured = await measureSizes(sizes, 'people of a directory', async (size) => {
      await fill(context, filled, size);
      filled = size;
      const leavers = size === sizes.at(-1) ? LEAVERS : LEAVERS_OF_SMALLER;
      return measure(context, { ...fixture, relay }, size, leavers);
    });
    relay.kill('SIGTERM');
    await fixture.stop();
    const note = `${LEAVERS} people leave at the largest size, ${LEAVERS_OF_SMALLER} at the others.`;
    return [{ of: 'people of a directory', sizes, figures: FIGURES, measured, note }];
  },
};

async function fill({ databaseUrl }, from, to) {
  await runSql(
    databaseUrl,
    `INSERT INTO directory_person (id, provider, external_id, user_name, is_active, emails,
       email_values, created_at, changed_at)
     SELECT gen_random_uuid(), 'okta', 'person-' || n, 'person-' || n || '@example.com', true,
       jsonb_build_array(jsonb_build_object('value', 'person-' || n || '@example.com',
         'type', 'work')), ARRAY['person-' || n || '@example.com'], now(), now()
     FROM generate_series($1::int, $2::int) AS n`,
    [from + 1, to],
  );
  await runSql(databaseUrl, 'ANALYZE directory_person');
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
  while (times.length < leavers) {
    times.push(await timeLeaver(context, url, relay));
  }
  const figures = [0, 1].flatMap((at) => {
    const ofOne = times.map((both) => both[at]);
    return [median(ofOne), quantile(ofOne, 0.99)];
  });
  const perSecond = await crowdPerSecond(context, url, size);
  return [median(lookUps), ...figures, perSecond, residentBytes(replicas[0].pid) / 2 ** 20];
}

/** @returns deactivations a second */
async function crowdPerSecond({ databaseUrl }, url, size) {
  const people = await runSql(
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
  const account = await watchAccount(url, WATCHED, async (created) => {
    const { accountId } = created;
    await link(context, [created]);
    person = await scim(url, 'POST', '/Users', { userName: accountId, externalId: accountId });
  });
  const token = await backendToken({ url }, account.token, BACKEND);
  const opened = Array.from({ length: RELAY_SOCKETS }, () => relay.open(token));
  const there = (await Promise.all(opened)).map((socket) => once(socket, 'close'));
  const here = account.sockets.map(({ disconnected }) => disconnected);
  const untilThere = timeUntil(there, () => undefined);
  const untilHere = await timeUntil(here, () => deactivate(url, person.id));
  return [untilHere, await untilThere];
}

function scim(url, method, path, json) {
  const headers = { 'content-type': 'application/scim+json' };
  const body = json && JSON.stringify(json);
  return request(url, method, `/v1/scim/okta/v2${path}`, { token: TOKEN, headers, body });
}
