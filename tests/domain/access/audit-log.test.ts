import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addMs, HOUR_MS } from '../../../src/core/clock.ts';
import { createLogger } from '../../../src/core/log.ts';
import { AuditWriter, exportAuditLog, listAuditLog } from '../../../src/domain/access/audit-log.ts';
import type { AuditFilter } from '../../../src/domain/access/audit-repo.ts';
import { purgeAuditLog } from '../../../src/domain/access/purge-audit-log.ts';
import type { AuditEntry } from '../../../src/domain/access/types.ts';
import { aUser } from '../../support/builders.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const ALL: AuditFilter = { userId: null, action: null, resourceType: null, status: null, dateFrom: null, dateTo: null };
const entry = (userId: number, fields: Partial<AuditEntry> = {}): AuditEntry => ({
  userId,
  action: 'users:edit',
  resourceType: 'users',
  resourceId: '5',
  details: { method: 'PUT' },
  ipAddress: '203.0.113.5',
  userAgent: 'test',
  status: 'success',
  requestMethod: 'PUT',
  requestPath: '/cabinet/admin/users/5',
  at: app.clock.now(),
  ...fields,
});
const record = (row: AuditEntry) => app.ports.audit.record(app.db, row);
const rowsOf = async (userId: number) => (await listAuditLog(app, { ...ALL, userId }, { limit: 500, offset: 0 })).items;

describe('spec 01 H7: append-only', () => {
  it('refuses UPDATE and DELETE from any code', async () => {
    const user = await aUser(app);
    await record(entry(user.id));
    for (const change of [
      "UPDATE admin_audit_log SET status = 'denied'",
      'UPDATE admin_audit_log SET user_id = NULL',
      "UPDATE admin_audit_log SET user_id = NULL, action = 'x'",
      "UPDATE admin_audit_log SET actor_name = 'x'",
      'DELETE FROM admin_audit_log',
    ]) {
      await expect(app.db.sql(`${change} WHERE user_id = $1::int RETURNING id`, [user.id]), change).rejects.toThrow(
        'append-only',
      );
    }
    expect(await rowsOf(user.id)).toHaveLength(1);
  });

  it('outlives its actor with his name', async () => {
    const user = await aUser(app);
    await record(entry(user.id, { action: 'users:delete' }));
    const [row] = await rowsOf(user.id);
    await app.db.sql('DELETE FROM users WHERE id = $1::int RETURNING id', [user.id]);
    const { items } = await listAuditLog(app, ALL, { limit: 500, offset: 0 });
    expect(items.find((item) => item.id === row!.id)).toMatchObject({
      userId: null,
      actorName: row!.firstName,
      action: 'users:delete',
      firstName: null,
    });
  });
});

describe('retention', () => {
  it('deletes what is past the days that the operator set, and only that', async () => {
    const user = await aUser(app);
    await record(entry(user.id, { resourceId: 'old', at: addMs(clock.now(), -31 * 24 * HOUR_MS) }));
    await record(entry(user.id, { resourceId: 'young', at: addMs(clock.now(), -29 * 24 * HOUR_MS) }));
    expect(await purgeAuditLog(app)).toBe(0);
    const keeping = (await testApp({ environment: { AUDIT_LOG_RETENTION_DAYS: '30' }, clock })).app;
    expect(await purgeAuditLog(keeping)).toBe(1);
    expect((await rowsOf(user.id)).map((row) => row.resourceId)).toEqual(['young']);
    await expect(app.db.sql('DELETE FROM admin_audit_log RETURNING id')).rejects.toThrow('append-only');
  });
});

describe('the writer', () => {
  it('spec 01 H24: keeps no request waiting and writes what came meanwhile in one statement', async () => {
    const user = await aUser(app);
    const writer = new AuditWriter(app.log);
    let statements = 0;
    const sql: App['db']['sql'] = (text, values) => {
      statements += 1;
      return app.db.sql(text, values);
    };
    const db = { ...app.db, sql };
    const waiting = Array.from({ length: 60 }, () => writer.record(db, entry(user.id)));
    expect(statements).toBe(0);
    await Promise.all(waiting);
    expect(statements).toBe(1);
    expect(await rowsOf(user.id)).toHaveLength(60);
  });

  it('writes at once what an answer waits for, with all that waits before it', async () => {
    const user = await aUser(app);
    const writer = new AuditWriter(app.log);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const lingering = writer.record(app.db, entry(user.id, { resourceId: 'read' }));
      const awaited = writer.record(app.db, entry(user.id, { resourceId: 'change' }), true);
      await vi.advanceTimersByTimeAsync(0);
      await Promise.all([lingering, awaited]);
    } finally {
      vi.useRealTimers();
    }
    expect((await rowsOf(user.id)).map((row) => row.resourceId)).toEqual(['change', 'read']);
  });

  it('writes everything that waits on flush, in order', async () => {
    const user = await aUser(app);
    const writer = new AuditWriter(app.log);
    const waiting = Array.from({ length: 450 }, (_, n) => writer.record(app.db, entry(user.id, { resourceId: String(n) })));
    await writer.flush();
    await Promise.all(waiting);
    const rows = await rowsOf(user.id);
    expect(rows.map((row) => Number(row.resourceId)).reverse()).toEqual(Array.from({ length: 450 }, (_, n) => n));
  });

  it('gives up the one row that the table refuses, not its neighbours', async () => {
    const user = await aUser(app);
    const writer = new AuditWriter(createLogger({ level: 'silent', format: 'json' }));
    const bad = { ...entry(user.id), status: 'x'.repeat(21) as AuditEntry['status'] };
    const all = [entry(user.id, { resourceId: '1' }), bad, entry(user.id, { resourceId: '2' })].map((row) =>
      writer.record(app.db, row),
    );
    await Promise.all(all);
    expect((await rowsOf(user.id)).map((row) => row.resourceId)).toEqual(['2', '1']);
  });
});

describe('reading', () => {
  it('filters, counts and pages', async () => {
    const user = await aUser(app);
    const start = clock.now();
    await record(entry(user.id, { action: 'Alpha:one', resourceType: 'alpha', at: start }));
    await record(entry(user.id, { action: 'alpha:two', resourceType: 'alpha', status: 'denied', at: addMs(start, 1_000) }));
    await record(entry(user.id, { action: 'beta:one', resourceType: 'beta', at: addMs(start, 2_000) }));
    const find = async (filter: Partial<AuditFilter>) => {
      const { items, total } = await listAuditLog(app, { ...ALL, userId: user.id, ...filter }, { limit: 10, offset: 0 });
      expect(total).toBe(items.length);
      return items.map((row) => row.action);
    };
    expect(await find({})).toEqual(['beta:one', 'alpha:two', 'Alpha:one']);
    expect(await find({ action: 'ALPHA' })).toEqual(['alpha:two', 'Alpha:one']);
    expect(await find({ action: 'no%such_' })).toEqual([]);
    expect(await find({ resourceType: 'alpha', status: 'denied' })).toEqual(['alpha:two']);
    expect(await find({ resourceType: 'alph' })).toEqual([]);
    expect(await find({ dateFrom: addMs(start, 1_000), dateTo: addMs(start, 2_000) })).toEqual(['beta:one', 'alpha:two']);
    const page = await listAuditLog(app, { ...ALL, userId: user.id }, { limit: 1, offset: 1 });
    expect([page.items.map((row) => row.action), page.total]).toEqual([['alpha:two'], 3]);
  });

  it('counts rows that came after the older part was counted', async () => {
    const user = await aUser(app);
    const total = async () => (await listAuditLog(app, { ...ALL, userId: user.id }, { limit: 1, offset: 0 })).total;
    await record(entry(user.id));
    clock.advance(HOUR_MS);
    expect(await total()).toBe(1);
    await record(entry(user.id));
    await record(entry(user.id, { at: addMs(clock.now(), -HOUR_MS) }));
    expect(await total()).toBe(3);
  });

  it('exports CSV bit by bit, harmless for spreadsheets', async () => {
    const user = await aUser(app);
    for (const text of ['=1+1', '+1', '-1', '@x', '\tx', 'plain, "quoted"']) {
      await record(entry(user.id, { requestPath: text, userAgent: `${text}${'a'.repeat(300)}` }));
    }
    let csv = '';
    for await (const chunk of await exportAuditLog(app, { ...ALL, userId: user.id }, 5)) csv += chunk;
    const lines = csv.split('\r\n');
    expect(lines[0]).toBe(
      'id,user_id,action,resource_type,resource_id,status,ip_address,request_method,request_path,created_at,user_agent,details',
    );
    expect(lines).toHaveLength(7);
    expect(lines[1]).toContain(',"plain, ""quoted""",');
    expect(lines[2]).toContain(",'\tx,");
    expect(lines[3]).toContain(",'@x,");
    expect(lines[5]).toContain(",'+1,");
    expect(lines[5]!.match(/'\+1a+/)![0]).toHaveLength(201);
    expect(lines[5]).toContain('"{""method"":""PUT""}"');
  });
});
