import type { Db } from '../../core/db/db.ts';
import type { SubscriptionStatus } from '../subscriptions/types.ts';
import type { OwnedColumn } from './owned-columns.ts';
import type { MergedFields, MergePreviewSubscription, MergingUser } from './types.ts';

/** Column and cast of each field that a merge writes on the primary. */
const COLUMNS: Record<keyof MergedFields, string> = {
  messengerId: 'messenger_id:bigint',
  lastPinnedMessageId: 'last_pinned_message_id:int',
  googleId: 'google_id:text',
  yandexId: 'yandex_id:text',
  discordId: 'discord_id:text',
  vkId: 'vk_id:bigint',
  email: 'email:text',
  emailVerified: 'email_verified:boolean',
  emailVerifiedAt: 'email_verified_at:timestamptz',
  passwordHash: 'password_hash:text',
  referredById: 'referred_by_id:int',
  referralCommissionPercent: 'referral_commission_percent:float8',
  partnerStatus: 'partner_status:text',
  restrictionTopup: 'restriction_topup:boolean',
  restrictionSubscription: 'restriction_subscription:boolean',
  restrictionReason: 'restriction_reason:text',
  hasHadPaidSubscription: 'has_had_paid_subscription:boolean',
  hasMadeFirstTopup: 'has_made_first_topup:boolean',
  usedPromocodes: 'used_promocodes:int',
  autoPromoGroupAssigned: 'auto_promo_group_assigned:boolean',
  autoPromoGroupThresholdKopeks: 'auto_promo_group_threshold_kopeks:bigint',
  promoOfferDiscountPercent: 'promo_offer_discount_percent:int',
  promoOfferDiscountSource: 'promo_offer_discount_source:text',
  promoOfferDiscountExpiresAt: 'promo_offer_discount_expires_at:timestamptz',
  lifetimeUsedTrafficBytes: 'lifetime_used_traffic_bytes:bigint',
  vpnpanelUuid: 'vpnpanel_uuid:uuid',
  trojanPassword: 'trojan_password:text',
  vlessUuid: 'vless_uuid:text',
  ssPassword: 'ss_password:text',
  lastVpnpanelSync: 'last_vpnpanel_sync:timestamptz',
};

const FIELDS = (Object.keys(COLUMNS) as (keyof MergedFields)[]).map((field) => {
  const [name, cast] = COLUMNS[field].split(':') as [string, string];
  return { field, name, cast };
});

const SELECTED = FIELDS.map(({ field, name, cast }) => `${name}::${cast} AS "${field}"`).join(', ');

/**
 * Locks both users in the order of their ids (spec 01 H17) and their subscriptions; only then the users so that no row can come to name
 * them either. In one step that lock and a job that holds a subscription and checks its foreign key would wait for each other.
 * Missing ones are left out.
 */
export async function lockUsers(db: Db, ids: readonly [number, number]): Promise<MergingUser[]> {
  await db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR NO KEY UPDATE', [ids]);
  await lockSubscriptions(db, ids);
  return db.sql<MergingUser>(
    `SELECT id, status, balance_kopeks AS "balanceKopeks", ${SELECTED} FROM users WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE`,
    [ids],
  );
}

/** Locks the subscriptions of both, after the users (spec 00, lock order). */
export async function lockSubscriptions(db: Db, userIds: readonly [number, number]): Promise<{ id: number; userId: number }[]> {
  return db.sql<{ id: number; userId: number }>(
    'SELECT id, user_id AS "userId" FROM subscriptions WHERE user_id = ANY($1::int[]) ORDER BY id FOR UPDATE',
    [userIds],
  );
}

/** Gives the history to the primary; the secondary's wallet must be empty (prisma/sql/ledger.sql). @returns how many rows moved */
export async function moveTransactions(db: Db, secondaryId: number, primaryId: number): Promise<number> {
  const [row] = await db.sql<{ moved: number }>('SELECT move_transactions($1::int, $2::int) AS moved', [secondaryId, primaryId]);
  return row!.moved;
}

export async function deleteSubscription(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM subscriptions WHERE id = $1::int RETURNING id', [id]);
}

export async function moveSubscription(db: Db, id: number, primaryId: number, now: Date): Promise<void> {
  await db.sql('UPDATE subscriptions SET user_id = $2::int, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id', [
    id,
    primaryId,
    now,
  ]);
}

/** A saved order comes along unless the primary has one, or it extends a subscription that is no longer there. */
export async function moveSavedCart(
  db: Db,
  keys: { from: string; to: string },
  keptSubscriptionId: number | null,
): Promise<void> {
  await db.sql(
    `UPDATE short_lived_entries c SET key = $2 WHERE c.key = $1
       AND NOT EXISTS (SELECT 1 FROM short_lived_entries o WHERE o.key = $2)
       AND (c.value->>'subscription_id' IS NULL OR (c.value->>'subscription_id')::int = $3::int) RETURNING key`,
    [keys.from, keys.to, keptSubscriptionId],
  );
  await db.sql('DELETE FROM short_lived_entries WHERE key = $1 RETURNING key', [keys.from]);
}

/**
 * Does with the secondary's rows of one column what the list says; names come from the list, never from a request.
 * @returns how many rows became the primary's
 */
export async function transferColumn(db: Db, owned: OwnedColumn, secondaryId: number, primaryId: number): Promise<number> {
  const { table, column } = owned;
  const ids = [secondaryId, primaryId];
  const move = (condition = '') =>
    db.sql(`UPDATE ${table} SET ${column} = $2::int WHERE ${column} = $1::int${condition} RETURNING 1 AS moved`, ids);
  switch (owned.on) {
    case 'move':
      return (await move()).length;
    case 'move_distinct': {
      await endDuplicates(db, owned, ids);
      const isFree = ` AND NOT EXISTS (SELECT 1 FROM ${table} p WHERE p.${column} = $2::int)`;
      return (await move(owned.isOnePerUser ? isFree : '')).length;
    }
    case 'clear':
      await db.sql(`UPDATE ${table} SET ${column} = NULL WHERE ${column} = $1::int RETURNING 1 AS cleared`, [secondaryId]);
      return 0;
    case 'delete':
      await db.sql(`DELETE FROM ${table} WHERE ${column} = $1::int RETURNING 1 AS gone`, [secondaryId]);
      return 0;
    default:
      return 0;
  }
}

/** The secondary's rows whose place is taken by a row of the primary. */
async function endDuplicates(
  db: Db,
  owned: Extract<OwnedColumn, { on: 'move_distinct' }>,
  ids: readonly number[],
): Promise<void> {
  const { table, column, key, where, ends } = owned;
  const equal = key.map((name) => `p.${name} IS NOT DISTINCT FROM r.${name}`);
  const taken = [`p.${column} = $2::int`, ...equal, ...(where ? [where.replaceAll('r.', 'p.')] : [])].join(' AND ');
  const rows = [`r.${column} = $1::int`, ...(where ? [where] : []), `EXISTS (SELECT 1 FROM ${table} p WHERE ${taken})`].join(
    ' AND ',
  );
  const action = ends ? `UPDATE ${table} r SET ${ends}` : `DELETE FROM ${table} r`;
  await db.sql(`${action} WHERE ${rows} RETURNING 1 AS ended`, ids);
}

/** What one of the two earned through the other was never earned (spec 01 section 8). The money stays where it is. */
export async function deleteMutualEarnings(db: Db, secondaryId: number, primaryId: number): Promise<void> {
  await db.sql(
    `DELETE FROM referral_earnings WHERE (user_id = $1::int AND referral_id = $2::int) OR (user_id = $2::int AND referral_id = $1::int)
     RETURNING id`,
    [secondaryId, primaryId],
  );
}

/** Was this user, directly or through others, invited by one of the two, or is one of them? */
export async function isInvitedByEither(db: Db, userId: number, ids: readonly [number, number]): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    `WITH RECURSIVE ancestors (id) AS (
       SELECT $1::int UNION SELECT u.referred_by_id FROM users u JOIN ancestors a ON u.id = a.id WHERE u.referred_by_id IS NOT NULL)
     SELECT id FROM ancestors WHERE id = ANY($2::int[])`,
    [userId, ids],
  );
  return rows.length > 0;
}

/** Everyone the secondary invited was invited by the primary. @returns how many */
export async function moveReferrals(db: Db, secondaryId: number, primaryId: number): Promise<number> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE users SET referred_by_id = $2::int WHERE referred_by_id = $1::int AND id NOT IN ($1::int, $2::int) RETURNING id`,
    [secondaryId, primaryId],
  );
  return rows.length;
}

/** The secondary's account ends: no way in, no name that must be unique, no code that invites (spec 01 section 8). */
export async function closeSecondary(db: Db, id: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE users SET status = 'deleted', messenger_id = NULL, last_pinned_message_id = NULL, google_id = NULL, yandex_id = NULL,
       discord_id = NULL, vk_id = NULL, email = NULL, email_verified = false, email_verified_at = NULL, password_hash = NULL,
       email_verification_token_hash = NULL, email_verification_expires = NULL, password_reset_token_hash = NULL,
       password_reset_expires = NULL, email_change_new = NULL, email_change_code_hash = NULL, email_change_expires = NULL,
       email_change_attempts = 0, vpnpanel_uuid = NULL, trojan_password = NULL, vless_uuid = NULL, ss_password = NULL,
       referral_code = 'merged_' || id, referred_by_id = NULL, partner_status = 'none', used_promocodes = 0,
       lifetime_used_traffic_bytes = 0,
       promo_offer_discount_percent = 0, promo_offer_discount_source = NULL, promo_offer_discount_expires_at = NULL,
       updated_at = $2::timestamptz
     WHERE id = $1::int RETURNING id`,
    [id, now],
  );
}

/** Writes what the primary holds now. */
export async function updatePrimary(db: Db, id: number, fields: MergedFields, now: Date): Promise<void> {
  const sets = FIELDS.map(({ name, cast }, index) => `${name} = $${index + 3}::${cast}`).join(', ');
  await db.sql(`UPDATE users SET ${sets}, updated_at = $2::timestamptz WHERE id = $1::int RETURNING id`, [
    id,
    now,
    ...FIELDS.map(({ field }) => fields[field]),
  ]);
}

/** The primary group is the membership with the highest (priority, id); without memberships it stays (spec 04 section 8.1). */
export async function choosePromoGroup(db: Db, userId: number): Promise<void> {
  await db.sql(
    `UPDATE users SET promo_group_id = g.id FROM (
       SELECT pg.id FROM user_promo_groups m JOIN promo_groups pg ON pg.id = m.promo_group_id
       WHERE m.user_id = $1::int ORDER BY pg.priority DESC, pg.id DESC LIMIT 1) g
     WHERE users.id = $1::int AND users.promo_group_id IS DISTINCT FROM g.id RETURNING users.id`,
    [userId],
  );
}

/** The subscription as the merge page shows it; null when there is none. */
export async function findPreviewSubscription(db: Db, userId: number): Promise<MergePreviewSubscription | null> {
  const [row] = await db.sql<Omit<MergePreviewSubscription, 'status'> & { status: SubscriptionStatus }>(
    `SELECT s.status, s.is_trial AS "isTrial", s.end_date AS "endDate", s.traffic_limit_gb AS "trafficLimitGb",
       s.traffic_used_gb AS "trafficUsedGb", s.device_limit AS "deviceLimit", t.name AS "tariffName",
       s.autopay_enabled AS "autopayEnabled"
     FROM subscriptions s LEFT JOIN tariffs t ON t.id = s.tariff_id WHERE s.user_id = $1::int`,
    [userId],
  );
  return row ?? null;
}

/** What a finished merge leaves for support. Kopeks. */
export interface MergeRecord {
  /** SHA-256 hex: whatever the key store says, a token merges once. */
  tokenHash: string;
  primaryUserId: number;
  secondaryUserId: number;
  keptSubscriptionOf: number | null;
  balanceMovedKopeks: number;
  /** Rows by table. */
  moved: Record<string, number>;
  abandonedPanelUuid: string | null;
}

/** @returns the record's id; null when this token has merged before */
export async function insertMerge(db: Db, merge: MergeRecord, now: Date): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO account_merges (token_hash, primary_user_id, secondary_user_id, retained_subscription_of, balance_moved_kopeks, moved,
       abandoned_panel_uuid, panel_state, created_at)
     VALUES ($1, $2::int, $3::int, $4::int, $5::bigint, $6::jsonb, $7::uuid, CASE WHEN $7::uuid IS NULL THEN 'none' ELSE 'pending' END,
       $8::timestamptz)
     ON CONFLICT (token_hash) DO NOTHING RETURNING id`,
    [
      merge.tokenHash,
      merge.primaryUserId,
      merge.secondaryUserId,
      merge.keptSubscriptionOf,
      merge.balanceMovedKopeks,
      JSON.stringify(merge.moved),
      merge.abandonedPanelUuid,
      now,
    ],
  );
  return row?.id ?? null;
}

/** The panel user that a merge still has to remove; null when there is none, or it is done. */
export async function findAbandonedPanelUser(db: Db, mergeId: number): Promise<string | null> {
  const [row] = await db.sql<{ panelUuid: string | null }>(
    `SELECT abandoned_panel_uuid AS panel_uuid FROM account_merges WHERE id = $1::int AND panel_state IN ('pending', 'failed')`,
    [mergeId],
  );
  return row?.panelUuid ?? null;
}

export async function savePanelState(db: Db, mergeId: number, state: 'done' | 'failed', error: string | null): Promise<void> {
  await db.sql('UPDATE account_merges SET panel_state = $2, panel_error = $3 WHERE id = $1::int RETURNING id', [
    mergeId,
    state,
    error?.slice(0, 500) ?? null,
  ]);
}
