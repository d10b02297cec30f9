import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isConfigAdmin } from '../access/read-effective-access.ts';
import { applyStatus } from './changes/change-status.ts';
import { listSilentUsers, lockRemovable, type SilentPosition } from './inactive-repo.ts';

/** The hour (UTC) in which the job works. */
const HOUR = 3;
const DAYS_A_MONTH = 30;
/** Users a transaction: few enough that nobody waits for their locks. */
const BATCH = 50;

/**
 * Marks users deleted who were not seen for `INACTIVE_USER_DELETE_MONTHS` × 30 days, as an administrator's soft deletion does
 * (spec 01 section 17). Spared are all who still have something here (H22): balance, a subscription with time left, a gift or purchase
 * that waits, a role, a partnership; and administrators of the configuration. 0 months = never.
 *
 * Goes page by page through an index; each page is a short transaction that looks at everything again under lock, so that a user
 * who comes back meanwhile stays. Stopped in between, it goes on the next night. Outside its hour it does nothing.
 * @returns how many were marked
 */
export async function deleteInactiveUsers(app: App, signal?: AbortSignal): Promise<number> {
  const months = app.settings.get('INACTIVE_USER_DELETE_MONTHS');
  if (months <= 0 || app.clock.now().getUTCHours() !== HOUR) return 0;
  const before = addDays(app.clock.now(), -months * DAYS_A_MONTH);
  let deleted = 0;
  for (let after: SilentPosition | null = null; !signal?.aborted; ) {
    const page: SilentPosition[] = await listSilentUsers(app.db, { before, after, limit: BATCH });
    if (page.length > 0) deleted += await deletePage(app, page, before);
    if (page.length < BATCH) break;
    after = page.at(-1)!;
  }
  if (deleted > 0) app.log.info({ users: deleted, months }, 'inactive users were marked deleted');
  return deleted;
}

function deletePage(app: App, page: readonly SilentPosition[], before: Date): Promise<number> {
  return inTransaction(app, async (t) => {
    const userIds = page.map((user) => user.userId);
    const removable = await lockRemovable(t.db, userIds, before, t.clock.now());
    const gone = removable.filter((user) => !isConfigAdmin(t, user));
    for (const { id } of gone) await applyStatus(t, id, 'active', 'deleted');
    return gone.length;
  });
}
