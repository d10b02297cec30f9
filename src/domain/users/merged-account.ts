import { columnOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

/** Fields that a merge writes on the primary, with the cast of each value. Secrets are among them: never return them from a use case. */
const CASTS = {
  messengerId: 'bigint',
  lastPinnedMessageId: 'int',
  googleId: 'text',
  yandexId: 'text',
  discordId: 'text',
  vkId: 'bigint',
  email: 'text',
  emailVerified: 'boolean',
  emailVerifiedAt: 'timestamptz',
  passwordHash: 'text',
  referredById: 'int',
  referralCommissionPercent: 'numeric',
  partnerStatus: 'text',
  restrictionTopup: 'boolean',
  restrictionSubscription: 'boolean',
  restrictionReason: 'text',
  hasHadPaidSubscription: 'boolean',
  hasMadeFirstTopup: 'boolean',
  usedPromocodes: 'int',
  autoPromoGroupAssigned: 'boolean',
  autoPromoGroupThresholdKopeks: 'bigint',
  promoOfferDiscountPercent: 'int',
  promoOfferDiscountSource: 'text',
  promoOfferDiscountExpiresAt: 'timestamptz',
  lifetimeUsedTrafficBytes: 'bigint',
  vpnpanelUuid: 'uuid',
  trojanPassword: 'text',
  vlessUuid: 'text',
  ssPassword: 'text',
  lastVpnpanelSync: 'timestamptz',
} as const satisfies { [Field in keyof Rows['User']]?: string };

type MergedField = keyof typeof CASTS;
export const MERGED = Object.keys(CASTS) as MergedField[];

/** What the primary account has afterwards; its id, status and balance are not among it. */
export type MergedFields = Pick<Rows['User'], MergedField>;

/** Makes the primary the referrer of the secondary's referrals. @returns how many */
export async function moveReferrals(db: Db, secondaryId: number, primaryId: number): Promise<number> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE users SET referred_by_id = $2::int WHERE referred_by_id = $1::int AND id NOT IN ($1::int, $2::int) RETURNING id`,
    [secondaryId, primaryId],
  );
  return rows.length;
}

/** Closes the secondary account: no sign-in method, no unique value, the referral code `merged_{id}` (spec 01 section 8). */
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

/** Writes the merged fields of the primary. */
export async function updatePrimary(db: Db, id: number, fields: MergedFields, now: Date): Promise<void> {
  const sets = MERGED.map((field, index) => `${columnOf('User', field)} = $${index + 3}::${CASTS[field]}`).join(', ');
  await db.sql(`UPDATE users SET ${sets}, updated_at = $2::timestamptz WHERE id = $1::int RETURNING id`, [
    id,
    now,
    ...MERGED.map((field) => fields[field]),
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
