import { SteppedClock } from '../../../test/fixtures/stepped-clock.js';
import { AppError } from '../../common/errors.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';
import { AuditService } from './audit.service.js';
import { RefusedPeopleService, type RefusedPerson } from './refused-people.service.js';

const HOUR_MS = 3_600_000;

function peopleOver(add: (events: readonly AuditEvent[]) => Promise<void>) {
  const clock = new SteppedClock(1_800_000_000_000);
  const repository = { add } as unknown as ConstructorParameters<typeof AuditService>[0];
  const audit = new AuditService(repository, clock);
  return { clock, audit, people: new RefusedPeopleService(repository, audit, clock) };
}

function stored() {
  const rows: AuditEvent[] = [];
  const parts = peopleOver((events) => Promise.resolve(void rows.push(...events)));
  return { rows, ...parts };
}

const ADA: RefusedPerson = {
  provider: 'okta',
  subject: 'sub-of-ada',
  facts: { login: 'ada', email: 'ada@acme.example', emailVerified: true },
  address: '203.0.113.7',
  reason: 'group_missing',
};

describe(RefusedPeopleService, () => {
  it('stores the first refusal of a person at once, and those of an hour as one row', async () => {
    const { rows, clock, people } = stored();
    await Promise.all(Array.from({ length: 50 }, () => people.add(ADA, 'login-refused')));
    expect(rows).toEqual([
      {
        ...{ kind: 'login-refused', actor: 'user', accountId: null, count: 1 },
        ...{ provider: 'okta', subject: 'sub-of-ada', login: 'ada', email: 'ada@acme.example' },
        ...{ address: '203.0.113.7', reason: 'group_missing' },
      },
    ]);
    await people.flush();
    expect(rows).toHaveLength(1);
    clock.nowMs += HOUR_MS;
    await people.flush();
    expect(rows.map(({ count }) => count)).toEqual([1, 49]);
    clock.nowMs += HOUR_MS;
    await people.flush();
    expect(rows).toHaveLength(2);
    await people.add(ADA, 'login-refused');
    expect(rows.map(({ count }) => count)).toEqual([1, 49, 1]);
  });

  it('stores those of an hour where the wall clock was set back meanwhile', async () => {
    const { rows, clock, people } = stored();
    await people.add(ADA, 'login-refused');
    await people.add(ADA, 'login-refused');
    clock.setMs -= 24 * HOUR_MS;
    clock.nowMs += HOUR_MS;
    await people.flush();
    expect(rows.map(({ count }) => count)).toEqual([1, 1]);
  });

  it('stores what it has counted before the server stops', async () => {
    const { rows, people } = stored();
    await people.add(ADA, 'login-refused');
    await people.add(ADA, 'login-refused');
    await people.beforeApplicationShutdown();
    expect(rows.map(({ count }) => count)).toEqual([1, 1]);
  });

  it('keeps reasons, kinds and providers apart', async () => {
    const { rows, people } = stored();
    await people.add(ADA, 'login-refused');
    await people.add({ ...ADA, reason: 'user_not_allowed' }, 'login-refused');
    await people.add({ ...ADA, provider: 'guild' }, 'login-refused');
    await people.add(ADA, 'admin-login-refused');
    expect(rows).toHaveLength(4);
  });

  it('stores no more than 1000 people an hour, and counts the others', async () => {
    const { rows, clock, audit, people } = stored();
    for (let index = 0; index < 5000; index += 1) {
      await people.add({ ...ADA, subject: `sub-${index}` }, 'login-refused');
    }
    expect(rows).toHaveLength(1000);
    await audit.flush();
    expect(rows.slice(1000)).toMatchObject([{ reason: 'group_missing', count: 4000 }]);
    expect(rows.at(-1)).not.toHaveProperty('subject');
    clock.nowMs += HOUR_MS;
    await people.flush();
    await people.add({ ...ADA, subject: 'sub-of-the-next-hour' }, 'login-refused');
    expect(rows).toHaveLength(1002);
  });

  it('stores no address that the provider has not verified, and nothing that storage refuses', async () => {
    const { rows, people } = stored();
    const facts = { login: `a\0\u001b\ud800${'x'.repeat(1000)}`, email: 'boss@acme.example' };
    const hostile = { ...ADA, subject: '\0', facts: { ...facts, emailVerified: false } };
    await people.add({ ...hostile, address: null }, 'login-refused');
    expect(rows[0]).not.toHaveProperty('email');
    expect(rows[0]).not.toHaveProperty('address');
    expect(rows[0]).toMatchObject({ subject: '', login: `a${'x'.repeat(319)}` });
  });

  it('does not fail where storage is away', async () => {
    const { people } = peopleOver(() => Promise.reject(new AppError('unavailable')));
    await expect(people.add(ADA, 'login-refused')).resolves.toBeUndefined();
  });
});
