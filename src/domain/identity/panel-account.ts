import type { Db } from '../../core/db/db.ts';

/** The panel user of an account with the keys of its protocols; null = the panel did not report the key. */
export interface PanelAccount {
  uuid: string;
  vlessUuid: string | null;
  trojanPassword: string | null;
  ssPassword: string | null;
}

/** Stores which panel user belongs to an account. Keys that the panel did not report do not change. Under the lock of the user. */
export async function savePanelUser(db: Db, userId: number, panelUser: PanelAccount, now: Date): Promise<void> {
  await db.sql(`UPDATE users SET vpnpanel_uuid = $2::uuid, ${SYNCED} WHERE id = $1::int RETURNING id`, [
    userId,
    ...syncedValues(panelUser, now),
  ]);
}

const SYNCED = `last_vpnpanel_sync = $3::timestamptz, vless_uuid = COALESCE($4::text, vless_uuid),
  trojan_password = COALESCE($5::text, trojan_password), ss_password = COALESCE($6::text, ss_password)`;

const syncedValues = (panelUser: PanelAccount, now: Date) =>
  [panelUser.uuid, now, panelUser.vlessUuid, panelUser.trojanPassword, panelUser.ssPassword] as const;

/**
 * The same for an account that has this panel user already, as the first part of a statement that changes other rows with it: its
 * values are $1 to $6, and it returns the account's `id`, or no row when it has another panel user by now.
 */
export function syncedAccount(userId: number, panelUser: PanelAccount, now: Date) {
  const sql = `UPDATE users SET ${SYNCED} WHERE id = $1::int AND vpnpanel_uuid = $2::uuid RETURNING id`;
  return { sql, values: [userId, ...syncedValues(panelUser, now)] };
}

/** Removes the panel user from an account. @returns false when the account has another one, or none. Under the lock of the user. */
export async function clearPanelUser(db: Db, userId: number, panelUuid: string): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    'UPDATE users SET vpnpanel_uuid = NULL WHERE id = $1::int AND vpnpanel_uuid = $2::uuid RETURNING id',
    [userId, panelUuid],
  );
  return rows.length > 0;
}

/** SQL that removes the panel users from the accounts that a subquery names, for a statement that changes other rows with it. */
export function clearPanelUsersSql(userIds: string): string {
  return `UPDATE users SET vpnpanel_uuid = NULL WHERE id IN (${userIds}) RETURNING id`;
}
