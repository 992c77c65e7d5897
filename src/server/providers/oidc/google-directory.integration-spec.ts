import { writeFileSync } from 'node:fs';
import { Runtime } from '../../../common/runtime/runtime.js';
import { FakeGoogleWorkspace } from '../../../../test/fakes/google-workspace.js';
import type { Fault } from '../../../../test/helpers/local-server.js';
import { MovedClock } from '../../../../test/fixtures/moved-clock.js';
import { DIRECT } from '../../../../test/fixtures/provider-settings-fixture.js';
import { UpstreamHttp } from '../http/upstream-http.js';
import { GoogleDirectory } from './google-directory.js';

const ANNA = '1001';

describe(GoogleDirectory, () => {
  let google: FakeGoogleWorkspace;
  let clock: MovedClock;

  beforeEach(async () => {
    google = await FakeGoogleWorkspace.start();
    google.users.set(ANNA, { primaryEmail: 'anna@acme.example' });
    google.setGroups(ANNA, 'Staff@acme.example', 'ops@acme.example');
    clock = new MovedClock();
  });
  afterEach(() => google.close());

  const directoryWith = (given = {}): GoogleDirectory =>
    new GoogleDirectory(
      { ...google.settings, ...given },
      new UpstreamHttp(new Runtime(clock), DIRECT),
      clock,
    );
  const find = (given = {}) => directoryWith(given).find(ANNA);
  const groups = async (given = {}) => {
    const user = await find(given);
    return typeof user === 'string' ? user : [...user.groups].sort();
  };
  const refused = (detail: string) => ({ failure: 'service_account_refused', detail });

  it('reads the groups of a user by the subject, in lower case', async () => {
    expect(await find()).toEqual({
      email: 'anna@acme.example',
      groups: ['staff@acme.example', 'ops@acme.example'],
    });
    expect(google.requests).toEqual(['POST /token', `GET /users/${ANNA}`, `GET /groups ${ANNA}`]);
    google.setGroups(ANNA);
    expect(await groups()).toEqual([]);
  });

  it('reads page after page, and ends a loop of pages', async () => {
    const names = Array.from({ length: 45 }, (_, at) => `team-${at}@acme.example`);
    google.setGroups(ANNA, ...names);
    google.pageSize = 10;
    expect(await groups()).toEqual([...names].sort());
    google.pageSize = 0;
    google.requests.splice(0);
    await expect(find()).rejects.toMatchObject({ failure: 'unexpected_answer' });
    expect(google.count('GET /groups')).toBe(50);
  });

  it('includes nested groups only where configured, and circular ones once', async () => {
    google.groups.set('all@acme.example', ['staff@acme.example']);
    google.groups.set('staff@acme.example', [ANNA, 'all@acme.example']);
    google.groups.delete('Staff@acme.example');
    expect(await groups()).toEqual(['ops@acme.example', 'staff@acme.example']);
    const nested = ['all@acme.example', 'ops@acme.example', 'staff@acme.example'];
    expect(await groups({ nestedGroups: true })).toEqual(nested);
    google.foreign.add('ops@acme.example');
    expect(await groups({ nestedGroups: true })).toEqual(nested);
  });

  it('distinguishes deleted users from those that it may not read', async () => {
    google.users.set(ANNA, { primaryEmail: 'anna@acme.example', suspended: true });
    expect(await find()).toBe('suspended');
    google.users.set(ANNA, { primaryEmail: 'anna@acme.example', archived: true });
    expect(await find()).toBe('suspended');
    google.users.delete(ANNA);
    expect(await find()).toBe('absent');
    google.foreign.add(ANNA);
    expect(await find()).toBe('hidden');
    google.isAdminAuthorized = false;
    await expect(find()).rejects.toMatchObject(refused('admin_not_authorized'));
  });

  it('finds no other user whose address is the subject', async () => {
    google.users.set('2002', { primaryEmail: ANNA });
    google.users.delete(ANNA);
    await expect(find()).rejects.toMatchObject({ detail: 'subject_mismatch' });
  });

  describe('the access token', () => {
    it('is requested once for many callers, and again shortly before it expires', async () => {
      const directory = directoryWith();
      await Promise.all(Array.from({ length: 5 }, () => directory.find(ANNA)));
      expect(google.count('POST /token')).toBe(1);
      google.clockAheadMs = clock.aheadMs = (3599 - 310) * 1000;
      await directory.find(ANNA);
      expect(google.count('POST /token')).toBe(1);
      google.clockAheadMs = clock.aheadMs += 10_000;
      await directory.find(ANNA);
      expect(google.count('POST /token')).toBe(2);
    });

    it('is replaced once when it is refused', async () => {
      const directory = directoryWith();
      await directory.find(ANNA);
      google.forgetTokens();
      expect(await directory.find(ANNA)).toMatchObject({ email: 'anna@acme.example' });
      google.faults.set(`/users/${ANNA}`, 'unauthorized');
      await expect(directory.find(ANNA)).rejects.toMatchObject(refused('token_refused'));
    });

    it('is requested with the current key of the file, or the last valid one', async () => {
      const directory = directoryWith();
      await directory.find(ANNA);
      google.rotateKey();
      google.clockAheadMs = clock.aheadMs += 1000;
      expect(await directory.find(ANNA)).toMatchObject({ email: 'anna@acme.example' });
      writeFileSync(google.keyFile, 'half a fi');
      google.forgetTokens();
      google.clockAheadMs = clock.aheadMs += 1000;
      expect(await directory.find(ANNA)).toMatchObject({ email: 'anna@acme.example' });
      await expect(find()).rejects.toMatchObject(refused('no_key'));
    });
  });

  it.each<[string, string, () => object | void]>([
    ['key_refused', 'of another key', () => google.writeKey({ private_key_id: 'key-0' })],
    [
      'key_refused',
      'for another audience',
      () => google.writeKey({ token_uri: `${google.url}/token?` }),
    ],
    ['account_unknown', 'of another account', () => google.writeKey({ client_email: 'x@acme' })],
    ['admin_unknown', 'for another user', () => ({ adminEmail: 'another@acme.example' })],
    [
      'delegation_missing',
      'without delegation',
      () => void (google.delegatedScopes = google.delegatedScopes.slice(1)),
    ],
    ['clock_wrong', 'of an hour ago', () => void (google.clockAheadMs = 3_600_000)],
    ['api_disabled', 'without the API', () => void (google.isApiEnabled = false)],
    ['admin_not_authorized', 'without privileges', () => void (google.isAdminAuthorized = false)],
  ])('is refused (%s) with a request %s, in words', async (detail, _case, change) => {
    const directory = directoryWith(change() ?? {});
    await expect(directory.find(ANNA)).rejects.toMatchObject(refused(detail));
    const step = await directory.diagnose();
    expect(step).toMatchObject({ severity: 'error', cause: 'service_account_refused' });
    expect(step.message).not.toContain('service_account_refused');
    expect(step.message).toMatch(/Google|service account|Admin SDK|administrator/);
    expect(step.message).not.toContain(detail);
  });

  it('passes its diagnosis otherwise, which requests only the administrator', async () => {
    expect(await directoryWith().diagnose()).toMatchObject({ severity: 'ok', cause: null });
    expect(google.requests.join()).not.toContain(ANNA);
  });

  it.each<[string, Fault, string]>([
    ['/token', 'server-error', 'server_error'],
    ['/token', 'html', 'unexpected_answer'],
    ['/token', 'unauthorized', 'unexpected_answer'],
    [`/users/${ANNA}`, 'server-error', 'server_error'],
    [`/users/${ANNA}`, 'not-found', 'unexpected_answer'],
    [`/users/${ANNA}`, 'forbidden', 'unexpected_answer'],
    [`/users/${ANNA}`, 'html', 'unexpected_answer'],
    ['/groups', 'server-error', 'server_error'],
    ['/groups', 'not-found', 'unexpected_answer'],
    ['/groups', 'huge-body', 'too_large'],
  ])('reports unknown when %s answers: %s', async (path, fault, failure) => {
    google.faults.set(path, fault);
    await expect(find()).rejects.toMatchObject({ failure });
  });

  it('treats a 403 about a quota as a rate limit', async () => {
    google.isRateLimited = true;
    await expect(find()).rejects.toMatchObject({ failure: 'rate_limited' });
  });
});
