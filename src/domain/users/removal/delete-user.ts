import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isForeignKeyViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { forgetSessionUser } from '../../identity/authenticate-user.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { requestPanelUserRemoval } from '../../provisioning/request-provisioning.ts';
import { lockUser } from '../account/repo.ts';
import { deleteRow, hasFinancialHistory } from './repo.ts';

export const hasHistory = refusal(
  'user_has_history',
  409,
  'User has dependent records and cannot be deleted; use full deletion instead',
);

/**
 * Deletes the row of a user without any financial history, with all rows that belong to it; the panel user is removed by the queue as
 * `VPNPANEL_USER_DELETE_MODE` says (spec 01 section 11.2, H18).
 * @throws AppError 404 'User not found' | 403 (H5) | 409 with a financial history
 */
export async function deleteUserRow(app: App, actor: AdminActor, userId: number, reason: string | null): Promise<void> {
  await guardTarget(app, actor, userId, 'removal');
  try {
    await inTransaction(app, async (t) => {
      const user = await lockUser(t.db, userId);
      if (!user) throw userNotFound();
      if (await hasFinancialHistory(t.db, userId)) throw hasHistory();
      if (user.vpnpanelUuid !== null) await requestPanelUserRemoval(t, user.vpnpanelUuid);
      await deleteRow(t.db, userId);
      await forgetSessionUser(t, userId);
      t.audit?.record({ before: { status: user.status }, after: null });
    });
  } catch (error) {
    if (isForeignKeyViolation(error)) throw hasHistory();
    throw error;
  }
  app.log.info({ userId, byUserId: actor.userId, reason }, 'admin users: row deleted');
}
