import { createStore, type Store } from '../../../test/helpers/server-store.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import type { AuditEvent } from '../../policy/audit-event.js';
import { AuditRepository } from './audit.repository.js';
import { dataSourceOptions } from '../data-source.js';
import { Database } from '../database.js';
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
    audit = new AuditRepository(new Database(source));
  });
  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });
  beforeEach(() => source.query('TRUNCATE audit_event'));

  it('gives back what it was given, page by page, oldest first', async () => {
    const accountId = '6f6a2f0e-1f55-4a0e-8d5f-6f3f4e5a6b7c';
    const linked: AuditEvent = { kind: 'identity-linked', actor: 'user', accountId, provider: 'p' };
    await audit.add([{ ...EVENT, count: 7 }, linked], new Date(NOW));
    await audit.add([EVENT], new Date(NOW + 1));
    const first = await audit.page({ since: NOW }, null, OLDEST_FIRST);
    expect(first.events).toEqual([
      { ...EVENT, id: expect.any(String), at: NOW, count: 7 },
      { ...linked, id: expect.any(String), at: NOW, count: 1 },
    ]);
    const second = await audit.page({ since: NOW }, first.next, OLDEST_FIRST);
    expect(second.events.map(({ at }) => at)).toEqual([NOW + 1]);
    expect(second.next).toBeNull();
    const none = await audit.page({ since: NOW + 2 }, null, OLDEST_FIRST);
    expect(none).toEqual({ events: [], next: null });
  });

  it('cuts a reason that is too long to keep', async () => {
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

  it('deletes what is too old, in batches', async () => {
    const many = Array.from({ length: 1500 }, () => EVENT);
    await audit.add(many, new Date(NOW - 2 * DAY_MS));
    await audit.add([EVENT], new Date(NOW));
    expect(await audit.deleteUntil(new Date(NOW - DAY_MS))).toBe(true);
    expect(await audit.deleteUntil(new Date(NOW - DAY_MS))).toBe(false);
    expect((await audit.page({}, null, OLDEST_FIRST)).events).toHaveLength(1);
  });
});
