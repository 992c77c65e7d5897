import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import type { AuditEvent } from '../policy/audit-event.js';
import { AuditLog } from './audit-log.js';

function logOver(add: (events: readonly AuditEvent[]) => Promise<void>): AuditLog {
  const repository = { add } as unknown as ConstructorParameters<typeof AuditLog>[0];
  return new AuditLog(repository, new Clock());
}

describe(AuditLog, () => {
  it('writes one row for each method and reason, however many were refused', async () => {
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

  it('goes on when storage is away', async () => {
    const audit = logOver(() => Promise.reject(new AppError('unavailable')));
    audit.refuse('okta', 'not-eligible');
    await expect(audit.flush()).resolves.toBeUndefined();
  });
});
