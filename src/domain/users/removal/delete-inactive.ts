import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isConfigAdmin } from '../../access/read-effective-access.ts';
import { recordMonitoring } from '../../monitoring/record-event.ts';
import { applyStatus } from '../account/change-status.ts';
import { type InactivePosition, listInactiveUsers, lockRemovable } from './inactive-repo.ts';

/** The hour (UTC) in which the job runs. */
const HOUR = 3;
const DAYS_A_MONTH = 30;
/** Users in one transaction: few, so that other transactions wait only shortly for their locks. */
const BATCH = 50;

/**
 * Marks users deleted who were not seen for `INACTIVE_USER_DELETE_MONTHS` × 30 days, as an administrator's soft deletion does
 * (spec 01 section 17). Not deleted (H22): users with balance, a subscription with time left, a gift or purchase that is not delivered, a
 * role or a partnership; and administrators of the configuration. 0 months = never.
 *
 * Reads page by page through an index; each page is a short transaction that checks the conditions again under lock, so that a user who
 * has returned since is not deleted. If it is stopped, the next night continues. Outside its hour it does nothing.
 * @returns how many were marked
 */
export async function deleteInactiveUsers(app: App, signal?: AbortSignal): Promise<number> {
  const months = app.settings.get('INACTIVE_USER_DELETE_MONTHS');
  if (months <= 0 || app.clock.now().getUTCHours() !== HOUR) return 0;
  const before = addDays(app.clock.now(), -months * DAYS_A_MONTH);
  let deleted = 0;
  for (let after: InactivePosition | null = null; !signal?.aborted; ) {
    const page: InactivePosition[] = await listInactiveUsers(app.db, { before, after, limit: BATCH });
    if (page.length > 0) deleted += await deletePage(app, page, before);
    if (page.length < BATCH) break;
    after = page.at(-1)!;
  }
  if (deleted > 0) app.log.info({ users: deleted, months }, 'inactive users were marked deleted');
  await recordMonitoring(app, 'inactive_users_cleanup', { deleted_count: deleted });
  return deleted;
}

function deletePage(app: App, page: readonly InactivePosition[], before: Date): Promise<number> {
  return inTransaction(app, async (t) => {
    const userIds = page.map((user) => user.userId);
    const removable = await lockRemovable(t.db, userIds, before, t.clock.now());
    const deleted = removable.filter((user) => !isConfigAdmin(t, user));
    for (const { id } of deleted) await applyStatus(t, id, 'active', 'deleted');
    return deleted.length;
  });
}
