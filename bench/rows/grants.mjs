import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { decodeJwt } from 'jose';
import { describeBackend, importGuard, startWithBackend, timeLeavers } from '../backend.mjs';
import { bearer, formOf, signUp, signUpAll } from '../client.mjs';
import { compareHttp } from '../compare-http.mjs';
import {
  exchangeForm,
  INSPECTOR,
  PROGRAM_ENV,
  PROGRAMS,
  programTokens,
  refresh,
} from '../fixtures.mjs';
import { memoryOf, PROBE } from '../processes.mjs';
import { p99Row, row } from '../report.mjs';
import { databaseOf, loginsAt, REPEATABLE, startUsed } from './http.mjs';

const ISSUER = 'https://gate.example';
const MEBIBYTE = 1024 * 1024;
/** The backend of programs, by the id that its fixture has. */
const WITHOUT_PROGRAMS = { id: 'notes' };
const ENTRY = { ...WITHOUT_PROGRAMS, programs: PROGRAMS };

/** Programs under a person: their tokens, their grants, and the end of their person. */
export const groups = {
  'program-tokens': async (context) => [
    await refreshes(context),
    await exchanges(context),
    await logins(context),
  ],
  'program-grants': async (context) => [...(await grants(context)), await leavers(context)],
};

/** Variables of a server with the backend, which accepts programs or not. */
function configured(entry) {
  return { ...describeBackend(entry).env, ...PROGRAM_ENV, SERVICE_PUBLIC_URL: ISSUER };
}

const ACCOUNTS = 20;
const GRANTS_OF_ACCOUNT = 5;

function refreshes(context) {
  return compareHttp(context, {
    work: '`POST /v1/oauth/token`, a refresh of a program',
    limitFile: 'refresh.mjs',
    env: configured(ENTRY),
    least: 0.4,
    goal: 0.5,
    prepare: async (url) => {
      const people = await signUpAll(url, ACCOUNTS, (at) =>
        signUpWithGrants(at, GRANTS_OF_ACCOUNT),
      );
      const tokens = people.flatMap(({ programs }) => programs);
      const known = tokens.map(({ access, refresh: token }) => {
        return { token, grantId: decodeJwt(access).grant_id };
      });
      const { aud: resource } = decodeJwt(tokens[0].access);
      return {
        limitInput: databaseOf(context, { issuer: ISSUER, resource, grants: known }),
        requests: tokens.map(({ refresh: token }) => formOf(refreshForm(token))),
      };
    },
  });
}

/** Both servers have the same database, so that their tables are equally large. */
function exchanges(context) {
  const use = async (url) => {
    const accounts = await signUpAll(url, ACCOUNTS);
    return accounts.map(({ token }) => formOf(exchangeForm(token, ENTRY.id)));
  };
  return compareHttp(context, {
    work: '`POST /v1/oauth/token`, an exchange with programs; the limit is Gatehouse without',
    env: configured(ENTRY),
    startReference: () => startUsed(context, configured(WITHOUT_PROGRAMS), use),
    least: 0.95,
    goal: 0.99,
    prepare: async (url) => ({ requests: await use(url) }),
  });
}

function logins(context) {
  return compareHttp(context, {
    work: '`POST /v1/auth`, known key, with programs; the limit is Gatehouse without',
    env: { ...REPEATABLE, ...configured(ENTRY) },
    startReference: () =>
      startUsed(context, { ...REPEATABLE, ...configured(WITHOUT_PROGRAMS) }, loginsAt),
    least: 0.95,
    goal: 0.99,
    prepare: async (url) => ({ requests: (await loginsAt(url)).requests }),
  });
}

function refreshForm(token) {
  return { grant_type: 'refresh_token', client_id: INSPECTOR.id, refresh_token: token };
}

/** A new account, whose person approves programs. */
async function signUpWithGrants(url, count) {
  const { token, accountId } = await signUp(url);
  const programs = [];
  while (programs.length < count) {
    programs.push(await programTokens({ url }, token));
  }
  return { accountId, programs };
}

/** A round of the other rows is 3 s: there are 10,000 grants of 1,000 people then. */
const PEOPLE_A_SECOND = 1000 / 3;
const GRANTS_OF_PERSON = 10;
const TIMED = 100;

/** People approve ten programs each. Each program then refreshes once. */
async function grants(context) {
  const { gatehouse } = await startWithBackend(context, {
    ...{ nodeArgs: PROBE, entry: ENTRY, env: PROGRAM_ENV },
  });
  const { url } = gatehouse;
  await signUpWithGrants(url, GRANTS_OF_PERSON);
  const times = await timed(url);
  const before = await memoryOf(gatehouse);
  const count = Math.round(PEOPLE_A_SECOND * context.seconds);
  await signUpAll(url, count, async (at) => {
    const { programs } = await signUpWithGrants(at, GRANTS_OF_PERSON);
    await Promise.all(programs.map((program) => refreshOnce(at, program)));
  });
  const kept = (await memoryOf(gatehouse)).inUse - before.inUse;
  await gatehouse.stop();
  return [
    p99Row({
      work: 'a program is authorized, approved and has its token: three requests one after another, p99',
      times,
      least: 100,
      goal: 30,
    }),
    row({
      work: `${count * GRANTS_OF_PERSON} grants of ${count} people, refreshed once: heap and buffers that stay`,
      unit: 'MiB',
      gatehouse: kept / MEBIBYTE,
      least: 64,
      goal: 32,
    }),
  ];
}

async function timed(url) {
  const times = [];
  while (times.length < TIMED) {
    const { token } = await signUp(url);
    const begun = performance.now();
    await programTokens({ url }, token);
    times.push(performance.now() - begun);
  }
  return times;
}

/** @throws on any answer that is not a success */
async function refreshOnce(url, { refresh: token }) {
  const { status, text } = await refresh({ url }, token);
  if (status !== 200) {
    throw new Error(`The refresh was answered ${status}: ${text}`);
  }
}

const INSTANCES = 3;
const PEOPLE = 20;
const STREAMS = 50;

/** An operator disables one person after the other: the program of each has streams at every instance of the backend. */
async function leavers(context) {
  const { gatehouse, guardOptions, disable } = await startWithBackend(context, {
    ...{ entry: ENTRY, env: PROGRAM_ENV },
  });
  const { createGuard } = await importGuard(context, 'index');
  const instances = await Promise.all(
    Array.from({ length: INSTANCES }, () => startInstance(createGuard, guardOptions)),
  );
  const people = await signUpAll(gatehouse.url, PEOPLE, (url) => signUpWithGrants(url, 1));
  const streams = await Promise.all(
    people.map(({ programs }) => openStreams(instances, programs[0].access)),
  );
  const times = await timeLeavers(people, streams, disable);
  await Promise.all(instances.map(({ close }) => close()));
  await gatehouse.stop();
  return p99Row({
    work: `a person is disabled, until the last of ${STREAMS} streams of their program of ${PEOPLE * STREAMS} at ${INSTANCES} instances is closed, p99`,
    times,
    least: 500,
    goal: 250,
  });
}

/** An instance of the backend, which streams to programs with the scope. */
async function startInstance(createGuard, guardOptions) {
  const guard = createGuard({ ...guardOptions, log: () => undefined });
  await guard.ready();
  const admit = guard.requireScope(PROGRAMS.initial[0]);
  const server = createServer((incoming, response) =>
    admit(incoming, response, () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': open\n\n');
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await guard.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

function openStreams(instances, access) {
  const urls = Array.from({ length: STREAMS }, (_none, index) => instances[index % INSTANCES].url);
  return Promise.all(urls.map((url) => openStream(url, access)));
}

async function openStream(url, access) {
  const [response] = await once(get(url, { agent: false, headers: bearer(access) }), 'response');
  if (response.statusCode !== 200) {
    throw new Error(`The stream was answered ${response.statusCode}.`);
  }
  response.on('error', () => undefined).resume();
  const closed = new Promise((done) => response.once('close', done));
  return { closed, isOpen: () => !response.closed };
}
