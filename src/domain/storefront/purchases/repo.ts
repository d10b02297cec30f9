import type { Db } from '../../../core/db/db.ts';
import type { Contact, ContactType, FailureReason, GuestPurchase, PurchaseStatus } from './types.ts';

interface PurchaseRow {
  id: number;
  token: string;
  code: string;
  landingId: number | null;
  source: GuestPurchase['source'];
  contactType: ContactType;
  contactValue: string;
  buyerUserId: number | null;
  isGift: boolean;
  giftRecipientType: ContactType | null;
  giftRecipientValue: string | null;
  giftMessage: string | null;
  tariffId: number | null;
  periodDays: number;
  amountKopeks: number;
  paymentMethod: string | null;
  paymentId: number | null;
  transactionId: number | null;
  status: PurchaseStatus;
  userId: number | null;
  accountCreated: boolean;
  retryCount: number;
  activationRequestedAt: Date | null;
  isActivationSigned: boolean;
  grantedAt: Date | null;
  subscriptionUrl: string | null;
  subscriptionCryptoLink: string | null;
  createdAt: Date;
  paidAt: Date | null;
  deliveredAt: Date | null;
}

/** Everything but the credentials, which only `takeCredentials` reads. */
const COLUMNS = `id, token, code, landing_id, source, contact_type, contact_value, buyer_user_id, is_gift, gift_recipient_type,
  gift_recipient_value, gift_message, tariff_id, period_days, amount_kopeks, payment_method, payment_id, transaction_id, status, user_id,
  account_created, retry_count, activation_requested_at, is_activation_signed, granted_at, subscription_url, subscription_crypto_link,
  created_at, paid_at, delivered_at`;

function toPurchase(row: PurchaseRow): GuestPurchase {
  const { giftRecipientType: type, giftRecipientValue: value } = row;
  return {
    id: row.id,
    token: row.token,
    code: row.code,
    landingId: row.landingId,
    source: row.source,
    buyer: { type: row.contactType, value: row.contactValue },
    buyerUserId: row.buyerUserId,
    isGift: row.isGift,
    recipient: type !== null && value !== null ? { type, value } : null,
    giftMessage: row.giftMessage,
    tariffId: row.tariffId,
    periodDays: row.periodDays,
    amountKopeks: row.amountKopeks,
    paymentMethod: row.paymentMethod,
    paymentId: row.paymentId,
    transactionId: row.transactionId,
    status: row.status,
    userId: row.userId,
    accountCreated: row.accountCreated,
    retryCount: row.retryCount,
    activationRequestedAt: row.activationRequestedAt,
    isActivationSigned: row.isActivationSigned,
    grantedAt: row.grantedAt,
    subscriptionUrl: row.subscriptionUrl,
    subscriptionCryptoLink: row.subscriptionCryptoLink,
    createdAt: row.createdAt,
    paidAt: row.paidAt,
    deliveredAt: row.deliveredAt,
  };
}

const first = (rows: PurchaseRow[]): GuestPurchase | null => (rows[0] ? toPurchase(rows[0]) : null);

export interface NewPurchase {
  token: string;
  landingId: number;
  buyer: Contact;
  isGift: boolean;
  recipient: Contact | null;
  giftMessage: string | null;
  tariffId: number;
  periodDays: number;
  amountKopeks: number;
  paymentMethod: string;
  paymentId: number;
  now: Date;
}

export async function insertPurchase(db: Db, purchase: NewPurchase): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO guest_purchases (token, code, landing_id, source, contact_type, contact_value, is_gift, gift_recipient_type,
       gift_recipient_value, gift_message, tariff_id, period_days, amount_kopeks, payment_method, payment_id, created_at, updated_at)
     VALUES ($1::text, left($1::text, 12), $2::int, 'landing', $3, $4, $5::boolean, $6, $7, $8, $9::int, $10::int, $11::bigint, $12, $13::int,
       $14::timestamptz, $14::timestamptz) RETURNING id`,
    [
      purchase.token,
      purchase.landingId,
      purchase.buyer.type,
      purchase.buyer.value,
      purchase.isGift,
      purchase.recipient?.type ?? null,
      purchase.recipient?.value ?? null,
      purchase.giftMessage,
      purchase.tariffId,
      purchase.periodDays,
      purchase.amountKopeks,
      purchase.paymentMethod,
      purchase.paymentId,
      purchase.now,
    ],
  );
  return row!.id;
}

/** Forgets a purchase whose invoice could not be made; one that was paid meanwhile stays. */
export async function deleteUnpaid(db: Db, paymentId: number): Promise<void> {
  await db.sql("DELETE FROM guest_purchases WHERE payment_id = $1::int AND status = 'pending' RETURNING id", [paymentId]);
}

export async function findPurchase(db: Db, id: number): Promise<GuestPurchase | null> {
  return first(await db.sql<PurchaseRow>(`SELECT ${COLUMNS} FROM guest_purchases WHERE id = $1::int`, [id]));
}

/** By the whole token (spec 03 H2). */
export async function findByToken(db: Db, token: string): Promise<GuestPurchase | null> {
  return first(await db.sql<PurchaseRow>(`SELECT ${COLUMNS} FROM guest_purchases WHERE token = $1`, [token]));
}

export async function findByPayment(db: Db, paymentId: number): Promise<GuestPurchase | null> {
  return first(await db.sql<PurchaseRow>(`SELECT ${COLUMNS} FROM guest_purchases WHERE payment_id = $1::int`, [paymentId]));
}

/** To be called after the rows of user and subscription are locked (spec 00, lock order). */
export async function lockPurchase(db: Db, id: number): Promise<GuestPurchase | null> {
  return first(await db.sql<PurchaseRow>(`SELECT ${COLUMNS} FROM guest_purchases WHERE id = $1::int FOR UPDATE`, [id]));
}

export interface PaidMark {
  id: number;
  userId: number;
  transactionId: number;
  accountCreated: boolean;
  cabinetPassword: string | null;
  autoLoginToken: string | null;
  nextAttemptAt: Date;
  now: Date;
}

/** The money is here. Only a purchase that was never paid; an expired or mismatched one still counts (spec 03 H15). @returns whether it was */
export async function markPaid(db: Db, mark: PaidMark): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET status = 'paid', user_id = $2::int, transaction_id = $3::int, paid_at = $8::timestamptz,
       account_created = $4::boolean, cabinet_password = $5, auto_login_token = $6, next_attempt_at = $7::timestamptz, last_error = NULL,
       updated_at = $8::timestamptz
     WHERE id = $1::int AND status IN ('pending', 'expired', 'failed') AND paid_at IS NULL RETURNING id`,
    [
      mark.id,
      mark.userId,
      mark.transactionId,
      mark.accountCreated,
      mark.cabinetPassword,
      mark.autoLoginToken,
      mark.nextAttemptAt,
      mark.now,
    ],
  );
  return rows.length > 0;
}

/** Ends a purchase without a delivery. @returns false when it had left those states before */
export async function markFailed(
  db: Db,
  id: number,
  from: readonly PurchaseStatus[],
  reason: FailureReason,
  now: Date,
): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET status = 'failed', last_error = $3, next_attempt_at = NULL, cabinet_password = NULL,
       auto_login_token = NULL, updated_at = $4::timestamptz
     WHERE id = $1::int AND status = ANY($2::text[]) AND granted_at IS NULL RETURNING id`,
    [id, from, reason, now],
  );
  return rows.length > 0;
}

/** The recipient has to agree first. */
export async function markPendingActivation(db: Db, id: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE guest_purchases SET status = 'pending_activation', next_attempt_at = NULL, retry_count = 0, last_error = NULL,
       updated_at = $2::timestamptz WHERE id = $1::int AND status = 'paid' AND granted_at IS NULL RETURNING id`,
    [id, now],
  );
}

/** Somebody asked to activate; from now on a job may go on with it (spec 03 H6). @returns false when there was nothing to ask for */
export async function markActivationRequested(
  db: Db,
  id: number,
  isSigned: boolean,
  nextAttemptAt: Date,
  now: Date,
): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET activation_requested_at = coalesce(activation_requested_at, $3::timestamptz),
       is_activation_signed = is_activation_signed OR $2::boolean, next_attempt_at = $4::timestamptz, updated_at = $3::timestamptz
     WHERE id = $1::int AND status = 'pending_activation' AND granted_at IS NULL RETURNING id`,
    [id, isSigned, now, nextAttemptAt],
  );
  return rows.length > 0;
}

/** The subscription has just been written, in the same transaction: never twice. @returns whether it was the first time */
export async function markGranted(db: Db, id: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET granted_at = $2::timestamptz, retry_count = 0, next_attempt_at = $2::timestamptz + interval '5 minutes',
       last_error = NULL, updated_at = $2::timestamptz
     WHERE id = $1::int AND granted_at IS NULL AND status IN ('paid', 'pending_activation') RETURNING id`,
    [id, now],
  );
  return rows.length > 0;
}

/**
 * Delivers granted purchases of a user whose panel has given the links (spec 03 H7).
 * @returns those that this call delivered
 */
export async function deliverGranted(
  db: Db,
  by: { userId: number } | { subscriptionId: number },
  now: Date,
): Promise<GuestPurchase[]> {
  const [column, id] = 'userId' in by ? ['s.user_id', by.userId] : ['s.id', by.subscriptionId];
  const columns = COLUMNS.split(',').map((name) => `p.${name.trim()}`);
  const rows = await db.sql<PurchaseRow>(
    `UPDATE guest_purchases p SET status = 'delivered', delivered_at = $2::timestamptz, subscription_url = s.subscription_url,
       subscription_crypto_link = s.subscription_crypto_link, next_attempt_at = NULL, last_error = NULL, updated_at = $2::timestamptz
     FROM subscriptions s
     WHERE ${column} = $1::int AND p.user_id = s.user_id AND p.granted_at IS NOT NULL AND p.delivered_at IS NULL
       AND p.status IN ('paid', 'pending_activation') AND s.provision_state = 'synced' AND s.subscription_url IS NOT NULL
     RETURNING ${columns.join(', ')}`,
    [id, now],
  );
  return rows.map(toPurchase);
}

export interface Credentials {
  password: string | null;
  autoLoginToken: string | null;
}

/** Hands out what is kept of a purchase's credentials and forgets it: of two at once, one gets it. */
export async function takeCredentials(db: Db, id: number): Promise<Credentials | null> {
  const [row] = await db.sql<{ password: string | null; token: string | null }>(
    `WITH kept AS (SELECT id, cabinet_password AS password, auto_login_token AS token FROM guest_purchases
         WHERE id = $1::int AND (cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL) FOR UPDATE)
     UPDATE guest_purchases p SET cabinet_password = NULL, auto_login_token = NULL FROM kept WHERE p.id = kept.id
     RETURNING kept.password, kept.token`,
    [id],
  );
  return row ? { password: row.password, autoLoginToken: row.token } : null;
}

/** Takes the password alone, to mail it. */
export async function takePassword(db: Db, id: number): Promise<string | null> {
  const [row] = await db.sql<{ password: string }>(
    `WITH kept AS (SELECT id, cabinet_password AS password FROM guest_purchases WHERE id = $1::int AND cabinet_password IS NOT NULL FOR UPDATE)
     UPDATE guest_purchases p SET cabinet_password = NULL FROM kept WHERE p.id = kept.id RETURNING kept.password`,
    [id],
  );
  return row?.password ?? null;
}

/** What the page shows beside the purchase itself. */
export interface PurchaseSurroundings {
  tariffName: string | null;
  /** The recipient has been in the messenger's bot. */
  isRecipientInBot: boolean;
}

export async function readSurroundings(db: Db, id: number): Promise<PurchaseSurroundings> {
  const [row] = await db.sql<{ tariffName: string | null; inBot: boolean }>(
    `SELECT t.name AS tariff_name, coalesce(u.messenger_id IS NOT NULL AND u.status = 'active', false) AS in_bot FROM guest_purchases p
       LEFT JOIN tariffs t ON t.id = p.tariff_id LEFT JOIN users u ON u.id = p.user_id WHERE p.id = $1::int`,
    [id],
  );
  return { tariffName: row?.tariffName ?? null, isRecipientInBot: row?.inBot ?? false };
}
