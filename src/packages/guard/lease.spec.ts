import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { momentOf } from '../../common/runtime/moment.js';
import { Lease } from './lease.js';

describe(Lease.name, () => {
  const start = (): { clock: ManualClock; lease: Lease } => {
    const clock = new ManualClock(1_000_000);
    return { clock, lease: new Lease(clock, 30_000) };
  };

  it('is neither valid nor expired before it is renewed', () => {
    const { lease } = start();
    expect([lease.isValid, lease.isExpired]).toEqual([false, false]);
  });

  it('is valid for its time from the sending of the request', async () => {
    const { clock, lease } = start();
    const sentAt = momentOf(clock);
    await clock.advance(5000);
    lease.renew(sentAt);
    await clock.advance(24_999);
    expect([lease.isValid, lease.isExpired]).toEqual([true, false]);
    await clock.advance(1);
    expect([lease.isValid, lease.isExpired]).toEqual([false, true]);
    lease.renew(momentOf(clock));
    expect([lease.isValid, lease.isExpired]).toEqual([true, false]);
  });

  it('is not expired but absent after signals were missed', () => {
    const { clock, lease } = start();
    lease.renew(momentOf(clock));
    lease.drop();
    expect([lease.isValid, lease.isExpired]).toEqual([false, false]);
  });
});
