import type { App } from '../../core/app.ts';
import { auditDetails } from './audit-details.ts';
import { insertAuditEntries } from './audit-repo.ts';

/** What a command of the operator changed. */
export interface CommandFacts {
  /** The command with its words, without the texts of its options. */
  command: string;
  /** What an administrator would need for the same. */
  permission: string;
  resourceId: string;
  before: unknown;
  after: unknown;
}

/** Adds the row of an operator's command to the audit log, in the transaction of the change: what was done and not recorded does not exist. */
export async function recordCommand(t: App, actorName: string, facts: CommandFacts): Promise<void> {
  const { command, permission, resourceId, before, after } = facts;
  await insertAuditEntries(t.db, [
    {
      ...{ userId: null, actorName, action: permission, resourceType: permission.split(':', 1)[0]!, resourceId },
      details: auditDetails(t, { command, before, after }),
      ...{ ipAddress: null, userAgent: null, status: 'success', requestMethod: 'CLI', requestPath: command },
      at: t.clock.now(),
    },
  ]);
}
