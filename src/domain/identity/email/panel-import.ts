import type { App } from '../../../core/app.ts';

/**
 * Queues the import of a subscription that the panel may have under a newly verified address (spec 01 section 5.5), or the update of the
 * panel user's address. Call in the transaction that verifies it; the job queries the panel after the commit.
 */
export async function requestPanelImport(t: App, userId: number): Promise<void> {
  await t.jobs.send('users.import-from-panel', { userId }, { singletonKey: String(userId) });
}
