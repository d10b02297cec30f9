import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkAuditLog, readSettledId } from '../../src/domain/access/audit-chain.ts';
import { verifyAuditLog } from '../../src/domain/access/verify-audit-log.ts';
import { anAuditEntry, settleAuditLog } from '../support/audit-chain.ts';
import { times } from '../support/parallel.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

// The embedded database has one connection: nothing commits while entries are linked.
describe.runIf(serverUrl)('links of the audit log among other transactions', () => {
  let database: TestDatabase;
  let t: TestApp;
  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 12 });
    t = await testApp({ database });
  });
  afterAll(() => database.drop());

  it('an entry that commits late, with a lower id than others that are linked, is linked and was not added', async () => {
    await anAuditEntry(t.app);
    await settleAuditLog(t.app);
    const late = new pg.Client({ connectionString: database.url! });
    await late.connect();
    try {
      await late.query('BEGIN');
      // Raw SQL: the entry of a transaction that is open for longer than the others.
      const { rows } = await late.query<{ id: string }>(
        "INSERT INTO admin_audit_log (action, status) VALUES ('late', 'success') RETURNING id",
      );
      const lateId = Number(rows[0]!.id);
      for (let round = 0; round < 3; round++) {
        expect(await anAuditEntry(t.app)).toBeGreaterThan(lateId);
        expect(await linkAuditLog(t.app)).toBe(1);
      }
      expect(await readSettledId(t.app.db)).toBeLessThan(lateId);
      await late.query('COMMIT');
      expect(await linkAuditLog(t.app)).toBe(1);
      await settleAuditLog(t.app);
      expect(await readSettledId(t.app.db)).toBeGreaterThan(lateId);
      expect(await verifyAuditLog(t.app)).toMatchObject({ findings: [], waiting: 0 });
    } finally {
      await late.end();
    }
  });

  it('instances that link at once while entries are written make one chain', async () => {
    await times(8, async (index) => {
      for (let round = 0; round < 5; round++) await (index < 4 ? anAuditEntry(t.app) : linkAuditLog(t.app));
    });
    await linkAuditLog(t.app);
    const [counts] = await t.app.db.sql<{ links: number; entries: number }>(
      'SELECT (SELECT count(*) FROM audit_links)::int AS links, (SELECT count(*) FROM admin_audit_log)::int AS entries',
    );
    expect(counts!.links).toBe(counts!.entries);
    expect(await verifyAuditLog(t.app)).toMatchObject({ findings: [], links: counts!.links, waiting: 0 });
  });
});
