import type { Db } from '../../../core/db/db.ts';
import { OFFER } from './repo.ts';
import type { Offer } from './types.ts';

/** Locks an offer of this user; null for an unknown one and for another user's. The user's row must be locked before. */
export async function lockOfferOfUser(db: Db, userId: number, offerId: number): Promise<Offer | null> {
  const [row] = await db.sql<Offer>(
    `SELECT ${OFFER.of('o')} FROM discount_offers o WHERE o.id = $1::bigint AND o.user_id = $2::int FOR UPDATE`,
    [offerId, userId],
  );
  return row ?? null;
}

/** Claims the offer unless it was claimed or has expired (spec 04 section 9.6). @returns whether it did */
export async function takeOffer(db: Db, offerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE discount_offers SET claimed_at = $2::timestamptz, is_active = false, updated_at = $2::timestamptz
     WHERE id = $1::int AND claimed_at IS NULL AND is_active AND expires_at > $2::timestamptz RETURNING id`,
    [offerId, now],
  );
  return rows.length > 0;
}

/** Deactivates an expired offer. @returns whether it was still active */
export async function deactivateExpiredOffer(db: Db, offerId: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE discount_offers SET is_active = false, updated_at = $2::timestamptz
     WHERE id = $1::int AND is_active AND expires_at <= $2::timestamptz RETURNING id`,
    [offerId, now],
  );
  return rows.length > 0;
}

/** Squads that a locked subscription has only by temporary access. */
export async function listTemporarySquads(db: Db, subscriptionId: number): Promise<string[]> {
  const rows = await db.sql<{ squadUuid: string }>(
    `SELECT DISTINCT squad_uuid FROM subscription_temporary_access
     WHERE subscription_id = $1::int AND is_active AND NOT was_already_connected`,
    [subscriptionId],
  );
  return rows.map((row) => row.squadUuid);
}

export interface NewAccess {
  subscriptionId: number;
  offerId: number;
  squads: readonly { uuid: string; wasAlreadyConnected: boolean }[];
  expiresAt: Date;
  now: Date;
}

/** One row per offer and squad, also when it is called again (spec 04 section 9.6). */
export async function insertAccess(db: Db, access: NewAccess): Promise<void> {
  await db.sql(
    `INSERT INTO subscription_temporary_access (subscription_id, offer_id, squad_uuid, was_already_connected, expires_at, created_at)
     SELECT $1::int, $2::int, s.uuid, s.was_already_connected, $4::timestamptz, $5::timestamptz
     FROM jsonb_to_recordset($3::jsonb) AS s (uuid text, was_already_connected boolean)
     ON CONFLICT (offer_id, squad_uuid) DO NOTHING RETURNING id`,
    [
      access.subscriptionId,
      access.offerId,
      JSON.stringify(
        access.squads.map(({ uuid, wasAlreadyConnected }) => ({ uuid, was_already_connected: wasAlreadyConnected })),
      ),
      access.expiresAt,
      access.now,
    ],
  );
}
