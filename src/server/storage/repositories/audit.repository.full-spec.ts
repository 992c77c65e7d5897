import { createStore, type Store } from '../../../../test/fixtures/programs/store-fixture.js';
import { MovedClock } from '../../../../test/fixtures/moved-clock.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import type { AuditEvent } from '../../../core/policy/audit-event.js';
import { AuditRepository } from './audit.repository.js';
import { dataSourceOptions } from '../data-source.js';
import { DatabaseService } from '../database.service.js';
import { deleteBatch } from './expired-rows.repository.js';
import { ServerDataSource } from '../server-data-source.js';

const { storage } = resolveSettings({}).settings;
const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const OLDEST_FIRST = { order: 'oldest-first', limit: 2 } as const;
const EVENT: AuditEvent = { kind: 'login-refused', actor: 'user', accountId: null, reason: 'x' };

describe(AuditRepository, () => {
  let store: Store;
  let source: ServerDataSource;
  let audit: AuditRepository;
  beforeAll(async () => {
    store = await createStore();
    const url = store.databaseUrl ?? '';
    source = new ServerDataSource({ ...dataSourceOptions(storage), url });
    await source.initialize();
    source.open(true);
    audit = new AuditRepository(new DatabaseService(source));
  });
  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });
  beforeEach(() => source.query('TRUNCATE audit_event'));

  it('returns the events as they were written, page by page, oldest first', async () => {
    const accountId = '6f6a2f0e-1f55-4a0e-8d5f-6f3f4e5a6b7c';
    const linked: AuditEvent = { kind: 'identity-linked', actor: 'user', accountId, provider: 'p' };
    await audit.add([{ ...EVENT, count: 7 }, linked], new Date(NOW));
    await audit.add([EVENT], new Date(NOW + 1));
    const first = await audit.page({ since: NOW }, null, OLDEST_FIRST);
    expect(first.events).toEqual([
      { ...EVENT, id: expect.any(String), txn: expect.any(String), at: NOW, count: 7 },
      { ...linked, id: expect.any(String), txn: expect.any(String), at: NOW, count: 1 },
    ]);
    const second = await audit.page({ since: NOW }, first.next, OLDEST_FIRST);
    expect(second.events.map(({ at }) => at)).toEqual([NOW + 1]);
    expect(second.next).toBeNull();
    const none = await audit.page({ since: NOW + 2 }, null, OLDEST_FIRST);
    expect(none).toEqual({ events: [], next: null });
  });

  it('truncates a reason that is too long', async () => {
    await audit.add([{ ...EVENT, reason: 'y'.repeat(10_000) }], new Date(NOW));
    const { events } = await audit.page({}, null, OLDEST_FIRST);
    expect(events[0]?.reason).toHaveLength(500);
  });

  it('cannot be rewritten', async () => {
    await audit.add([EVENT], new Date(NOW));
    await expect(source.query(`UPDATE audit_event SET reason = 'z'`)).rejects.toThrow(
      'append-only',
    );
  });

  it('finds the refusals of a person by the beginning of any name, in any case', async () => {
    const ada = {
      ...EVENT,
      provider: 'okta',
      subject: 'x-1',
      login: 'Ada.L',
      email: 'a@acme.example',
    };
    const bob = { ...EVENT, provider: 'okta', subject: 'x-2', address: '203.0.113.7' };
    await audit.add([EVENT, ada, bob], new Date(NOW));
    const found = async (person: string) => {
      const { events } = await audit.page({ person }, null, { order: 'newest-first', limit: 10 });
      return events.map(({ subject }) => subject);
    };
    for (const text of ['ada', 'ADA.L', 'A@ACME', 'x-1', 'X-1']) {
      expect({ text, found: await found(text) }).toEqual({ text, found: ['x-1'] });
    }
    expect(await found('x-')).toEqual(['x-2', 'x-1']);
    expect(await found('%')).toEqual([]);
    expect(await found('da.L')).toEqual([]);
    const { events } = await audit.page({ person: 'x-1' }, null, OLDEST_FIRST);
    const stored = { id: expect.any(String), txn: expect.any(String), at: NOW, count: 1 };
    expect(events).toEqual([{ ...ada, ...stored }]);
  });

  it('deletes refusals that name a client, and no other event with them', async () => {
    const old = new Date(NOW - 2 * DAY_MS);
    const person = { ...EVENT, subject: 'x-1' };
    const call: AuditEvent = { ...EVENT, kind: 'admin-refused', address: '203.0.113.7' };
    await audit.add([...Array.from({ length: 1200 }, () => person), call, EVENT], old);
    await audit.add([person, call, EVENT], new Date(NOW));
    expect(await audit.deleteRefusalsUntil(new Date(NOW - DAY_MS))).toBe(true);
    expect(await audit.deleteRefusalsUntil(new Date(NOW - DAY_MS))).toBe(false);
    const { events } = await audit.page({}, null, { order: 'oldest-first', limit: 10 });
    expect(events.map(({ at, kind }) => [at, kind])).toEqual([
      [old.getTime(), 'login-refused'],
      ...[
        [NOW, 'login-refused'],
        [NOW, 'admin-refused'],
        [NOW, 'login-refused'],
      ],
    ]);
  });

  it('deletes what is too old, in batches', async () => {
    const many = Array.from({ length: 1500 }, () => EVENT);
    await audit.add(many, new Date(NOW - 2 * DAY_MS));
    await audit.add([EVENT], new Date(NOW));
    expect(await audit.deleteUntil(new Date(NOW - DAY_MS))).toBe(true);
    expect(await audit.deleteUntil(new Date(NOW - DAY_MS))).toBe(false);
    expect((await audit.page({}, null, OLDEST_FIRST)).events).toHaveLength(1);
  });

  it('deletes nothing that is too old only by a clock that is ahead', async () => {
    const clock = new MovedClock();
    clock.aheadMs = 400 * DAY_MS;
    await audit.add([EVENT], new Date());
    const limit = new Date(clock.now() - 365 * DAY_MS);
    const events = { table: 'audit_event', key: 'id', column: 'at' };
    expect(await deleteBatch(new DatabaseService(source), events, limit, clock)).toBe(false);
    expect((await audit.page({}, null, OLDEST_FIRST)).events).toHaveLength(1);
  });
});
