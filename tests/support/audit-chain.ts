import type { App } from '../../src/core/app.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { linkAuditLog, readSettledId } from '../../src/domain/access/audit-chain.ts';
import type { AuditEntry } from '../../src/domain/access/types.ts';
import { eventually } from './eventually.ts';

/** Appends an entry. @returns its id */
export async function anAuditEntry(app: App, fields: Partial<AuditEntry> = {}): Promise<number> {
  const recorded = app.ports.audit.record(
    app.db,
    Object.assign(
      {
        userId: null,
        actorName: 'Vera',
        action: 'users:edit',
        resourceType: 'users',
        resourceId: '5',
        details: { before: { name: 'a' }, after: { name: 'b' } },
        ipAddress: '203.0.113.5',
        userAgent: 'test',
        status: 'success',
        requestMethod: 'PUT',
        requestPath: '/cabinet/admin/users/5',
        at: app.clock.now(),
      } satisfies AuditEntry,
      fields,
    ),
  );
  // Nothing else shares its statement: it does not linger.
  await app.ports.audit.flush();
  await recorded;
  const [row] = await app.db.sql<{ id: number }>('SELECT max(id) AS id FROM admin_audit_log');
  return row!.id;
}

/** Links what there is until no entry with a lower id can appear; transactions of other databases of the server delay it. */
export async function settleAuditLog(app: App): Promise<void> {
  const [row] = await app.db.sql<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM admin_audit_log');
  await eventually(async () => {
    await linkAuditLog(app);
    if ((await readSettledId(app.db)) < row!.id) throw new Error('not settled yet');
  });
}

/** A change by somebody who has the database: triggers are off. */
export function tamper(app: App, text: string, values: readonly unknown[] = []): Promise<void> {
  return inTransaction(app, async (t) => {
    await t.db.sql("SELECT set_config('session_replication_role', 'replica', true) AS done");
    await t.db.sql(text, values);
  });
}
