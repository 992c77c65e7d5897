import { Clock } from '../../common/runtime/clock.js';
import { AppError } from '../../common/errors.js';
import { toOperatorName, type AuditEvent } from '../../core/policy/audit-event.js';
import { AuditService } from './audit.service.js';

function logOver(add: (events: readonly AuditEvent[]) => Promise<void>): AuditService {
  const repository = { add } as unknown as ConstructorParameters<typeof AuditService>[0];
  return new AuditService(repository, new Clock());
}

describe(AuditService, () => {
  it('writes one row for each method and reason, for any number of refusals', async () => {
    const rows: AuditEvent[] = [];
    const audit = logOver((events) => Promise.resolve(void rows.push(...events)));
    for (let index = 0; index < 100_000; index += 1) {
      audit.refuse('key_challenge', index % 4 === 0 ? 'signup-disabled' : 'invalid-signature');
    }
    audit.refuse('okta', 'invalid-signature');
    await audit.flush();
    const counts = rows.map(({ provider, reason, count }) => [provider, reason, count]);
    expect(counts).toEqual([
      ['key_challenge', 'signup-disabled', 25_000],
      ['key_challenge', 'invalid-signature', 75_000],
      ['okta', 'invalid-signature', 1],
    ]);
    await audit.flush();
    expect(rows).toHaveLength(3);
  });

  it('writes refused calls by address, and those of many addresses together', async () => {
    const rows: AuditEvent[] = [];
    const audit = logOver((events) => Promise.resolve(void rows.push(...events)));
    for (let index = 0; index < 10_000; index += 1) {
      audit.refuseCall('invalid-token', `10.0.${index % 100}.1`, null);
    }
    await audit.flush();
    expect(rows).toHaveLength(21);
    expect(rows.filter(({ address }) => address !== undefined)).toHaveLength(20);
    expect(rows.find(({ address }) => address === undefined)?.count).toBe(8000);
    expect(rows[0]).toMatchObject({
      ...{ kind: 'admin-refused', actor: 'user', reason: 'invalid-token' },
      ...{ address: '10.0.0.1', count: 100 },
    });
    audit.refuseCall('admin-role-required', '10.0.99.1', toOperatorName('rita'));
    await audit.flush();
    expect(rows.at(-1)).toMatchObject({ actor: 'rita', address: '10.0.99.1', count: 1 });
  });

  it('goes on when storage is away', async () => {
    const audit = logOver(() => Promise.reject(new AppError('unavailable')));
    audit.refuse('okta', 'not-eligible');
    await expect(audit.flush()).resolves.toBeUndefined();
  });
});
