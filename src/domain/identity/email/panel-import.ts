import type { App } from '../../../core/app.ts';

/**
 * Says that a user has proved an address under which the panel may keep a subscription (spec 01 section 5.5), or by which it must
 * know the panel user that he has. In the transaction that proves it; the panel is asked by a job of a later module, after commit.
 */
export async function askForPanelImport(t: App, userId: number): Promise<void> {
  await t.jobs.send('users.import-from-panel', { userId }, { singletonKey: String(userId) });
}
