import { timingSafeEqual } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import { columns, plainRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Prisma } from '../../../generated/prisma/client.ts';
import type { OrderOf } from '../../subscriptions/order.ts';
import { CODE_LENGTH, HEAD_LENGTH, newPurchaseToken } from './rules.ts';
import type { Contact, FailureReason, GuestPurchase, PurchaseStatus } from './types.ts';

/** Everything but the credentials, which only `takeCredentials` reads. */
const PURCHASE = columns('GuestPurchase', [
  ...([
    'id',
    'token',
    'code',
    'landingId',
    'source',
    'contactType',
    'contactValue',
    'language',
    'buyerUserId',
    'isGift',
  ] as const),
  ...(['giftRecipientType', 'giftRecipientValue', 'giftMessage', 'tariffId', 'periodDays', 'amountKopeks'] as const),
  ...(['paymentMethod', 'paymentId', 'transactionId', 'status', 'userId', 'accountCreated', 'retryCount'] as const),
  ...(['activationRequestedAt', 'isActivationSigned', 'grantedAt', 'subscriptionUrl', 'subscriptionCryptoLink'] as const),
  ...(['recipientToken', 'recipientWarning', 'promoOfferPercent', 'promoOfferSource', 'refundTransactionId'] as const),
  ...(['createdAt', 'paidAt', 'deliveredAt'] as const),
]);
type PurchaseRow = RowOf<typeof PURCHASE>;

/** Where each kind of order was given, as the column says. */
const SOURCES = { gift: 'cabinet', landing: 'landing' } as const;

/** What Prisma Client leaves out of a row. */
const OMITTED = {
  ...({ cabinetPassword: true, autoLoginToken: true } as const),
  ...({
    currency: true,
    nextAttemptAt: true,
    lastError: true,
    receiptUuid: true,
    reservesOffer: true,
    importedAt: true,
    updatedAt: true,
  } as const),
};

function toPurchase(row: PurchaseRow): GuestPurchase {
  const { contactType, contactValue, giftRecipientType: type, giftRecipientValue: value, ...rest } = row;
  const { source, tariffId, periodDays, ...purchase } = rest;
  return {
    ...purchase,
    order: { kind: source === SOURCES.gift ? 'gift' : 'landing', tariffId, periodDays },
    buyer: { type: contactType, value: contactValue },
    recipient: type !== null && value !== null ? { type, value } : null,
  };
}

async function findOne(db: Db, where: Prisma.GuestPurchaseWhereUniqueInput): Promise<GuestPurchase | null> {
  const row = await db.prisma.guestPurchase.findUnique({ where, omit: OMITTED });
  return row && toPurchase(plainRow('GuestPurchase', row));
}

export interface NewPurchase
  extends Pick<GuestPurchase, 'landingId' | 'buyerUserId' | 'recipientWarning' | 'promoOfferPercent' | 'promoOfferSource'> {
  token: string;
  buyer: Contact;
  /** Of the page; null = unknown. */
  language: string | null;
  isGift: boolean;
  recipient: Contact | null;
  giftMessage: string | null;
  order: OrderOf<'gift' | 'landing'>;
  amountKopeks: number;
  paymentMethod: string;
  /** The invoice; null = paid from the balance. */
  paymentId: number | null;
  now: Date;
}

/**
 * The invoice of a purchase that waits for one reserves the discount that lowered its price (prisma/sql/offer-reservations.sql); the buyer is
 * locked then.
 * @param paid of a purchase that is paid in the same transaction; absent = it waits for its invoice
 * @returns the id
 */
export async function insertPurchase(
  db: Db,
  { order, buyer, recipient, now, ...purchase }: NewPurchase,
  paid?: Omit<PaidMark, 'id' | 'now'>,
): Promise<number> {
  const contacts = {
    contactType: buyer.type,
    contactValue: buyer.value,
    giftRecipientType: recipient?.type ?? null,
    giftRecipientValue: recipient?.value ?? null,
  };
  const code = purchase.token.slice(0, CODE_LENGTH);
  const { kind, ...bought } = order;
  const state = paid ? { ...paid, status: 'paid', paidAt: now } : {};
  const data = { ...purchase, ...bought, source: SOURCES[kind], ...contacts, ...state, code, createdAt: now, updatedAt: now };
  const { id } = await db.prisma.guestPurchase.create({ data, select: { id: true } });
  if (!paid && purchase.promoOfferPercent !== null) await db.sql('SELECT reserve_offer($1::int) AS held', [id]);
  return id;
}

/** Deletes a purchase whose invoice could not be made; one that was paid meanwhile stays. */
export async function deleteUnpaid(db: Db, paymentId: number): Promise<void> {
  await db.prisma.guestPurchase.deleteMany({ where: { paymentId, status: 'pending' } });
}

export function findPurchase(db: Db, id: number): Promise<GuestPurchase | null> {
  return findOne(db, { id });
}

/** By the buyer's whole token, or that of the recipient of a gift (spec 03 H2, spec 10 U4). */
export async function findByToken(db: Db, token: string): Promise<GuestPurchase | null> {
  const purchase = (await findOne(db, { token })) ?? (await findOne(db, { recipientToken: token }));
  return purchase && (purchase.token === token || purchase.isGift) ? purchase : null;
}

export function findByPayment(db: Db, paymentId: number): Promise<GuestPurchase | null> {
  return findOne(db, { paymentId });
}

/**
 * By the beginning of its token that buyers pass on (spec 03 H2, spec 10 U1). It is found by the digest of the first 12 characters, which are
 * unique, and compared in constant time, so that the time of an answer says nothing about the characters of a code.
 * @param code of the form of `isCode`
 */
export async function findByCode(db: Db, code: string): Promise<GuestPurchase | null> {
  const [row] = await db.sql<PurchaseRow>(
    `SELECT ${PURCHASE.of()} FROM guest_purchases WHERE sha256(left(token, ${HEAD_LENGTH})::bytea) = sha256($1::text::bytea)`,
    [code.slice(0, HEAD_LENGTH)],
  );
  return row && areEqual(row.token.slice(0, code.length), code) ? toPurchase(row) : null;
}

const MAX_TOKENS = 5;

/**
 * A token for a new purchase. One whose first characters another purchase has, or that begins as the prefix of codes does, is thrown away;
 * of two that are made at the same time the index refuses one.
 */
export async function freeToken({ db, random }: App): Promise<string> {
  for (let made = 0; made < MAX_TOKENS; made++) {
    const token = newPurchaseToken(random);
    if (!/^gift[-_]/i.test(token) && !(await findByCode(db, token.slice(0, HEAD_LENGTH)))) return token;
  }
  throw new Error('the random source repeats itself');
}

function areEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** To be called after the rows of user and subscription are locked (spec 00, lock order). */
export async function lockPurchase(db: Db, id: number): Promise<GuestPurchase | null> {
  const rows = await db.sql<PurchaseRow>(`SELECT ${PURCHASE.of()} FROM guest_purchases WHERE id = $1::int FOR UPDATE`, [id]);
  return rows[0] ? toPurchase(rows[0]) : null;
}

export interface PaidMark {
  id: number;
  /** The recipient; null = a gift that is only a code. */
  userId: number | null;
  transactionId: number;
  accountCreated: boolean;
  cabinetPassword: string | null;
  autoLoginToken: string | null;
  /** Null = no job gives it. */
  nextAttemptAt: Date | null;
  now: Date;
}

/** Marks a purchase paid that was never paid, an expired or mismatched one too (spec 03 H15). @returns whether it did */
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

/** Ends a purchase without a delivery. @returns false when it was in none of the states `from` */
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

/** Records the request to activate; from then on the job may carry it out (spec 03 H6). @returns false when nothing waits for one */
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

/** Marks a purchase whose subscription the same transaction has written. @returns false when it was marked before */
export async function markGranted(db: Db, id: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET granted_at = $2::timestamptz, retry_count = 0, next_attempt_at = $2::timestamptz + interval '5 minutes',
       last_error = NULL, updated_at = $2::timestamptz
     WHERE id = $1::int AND granted_at IS NULL AND status IN ('paid', 'pending_activation') RETURNING id`,
    [id, now],
  );
  return rows.length > 0;
}

/** Whose purchases are delivered. */
export type DeliveryTarget = { userId: number } | { subscriptionId: number };

/** Purchases `p` of a recipient's subscription `s` ($1) that can be delivered. */
function deliverable(by: DeliveryTarget): [condition: string, id: number] {
  const [column, id] = 'userId' in by ? ['s.user_id', by.userId] : ['s.id', by.subscriptionId];
  const condition = `${column} = $1::int AND p.user_id = s.user_id AND p.granted_at IS NOT NULL AND p.delivered_at IS NULL
       AND p.status IN ('paid', 'pending_activation') AND s.provision_state = 'synced' AND s.subscription_url IS NOT NULL`;
  return [condition, id];
}

/** Whether there is anything to deliver: it spares most pushes a transaction. */
export async function hasDeliverable(db: Db, by: DeliveryTarget): Promise<boolean> {
  const [condition, id] = deliverable(by);
  return (await db.sql(`SELECT p.id FROM guest_purchases p, subscriptions s WHERE ${condition} LIMIT 1`, [id])).length > 0;
}

/**
 * Delivers granted purchases of a user whose panel has given the links (spec 03 H7).
 * @returns those that this call delivered
 */
export async function deliverGranted(db: Db, by: DeliveryTarget, now: Date): Promise<GuestPurchase[]> {
  const [condition, id] = deliverable(by);
  const rows = await db.sql<PurchaseRow>(
    `UPDATE guest_purchases p SET status = 'delivered', delivered_at = $2::timestamptz, subscription_url = s.subscription_url,
       subscription_crypto_link = s.subscription_crypto_link, next_attempt_at = NULL, last_error = NULL, updated_at = $2::timestamptz
     FROM subscriptions s WHERE ${condition} RETURNING ${PURCHASE.of('p')}`,
    [id, now],
  );
  return rows.map(toPurchase);
}

export interface Credentials {
  password: string | null;
  autoLoginToken: string | null;
}

/** Reads a purchase's credentials and deletes them: of two callers at once, one gets them. */
export async function takeCredentials(db: Db, id: number): Promise<Credentials | null> {
  const [row] = await db.sql<Credentials>(
    `WITH stored AS (SELECT id, cabinet_password AS password, auto_login_token FROM guest_purchases
         WHERE id = $1::int AND (cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL) FOR UPDATE)
     UPDATE guest_purchases p SET cabinet_password = NULL, auto_login_token = NULL FROM stored WHERE p.id = stored.id
     RETURNING stored.password, stored.auto_login_token`,
    [id],
  );
  return row ?? null;
}

/** The same with the password alone, to mail it. */
export async function takePassword(db: Db, id: number): Promise<string | null> {
  const [row] = await db.sql<{ password: string }>(
    `WITH stored AS (SELECT id, cabinet_password AS password FROM guest_purchases
         WHERE id = $1::int AND cabinet_password IS NOT NULL FOR UPDATE)
     UPDATE guest_purchases p SET cabinet_password = NULL FROM stored WHERE p.id = stored.id RETURNING stored.password`,
    [id],
  );
  return row?.password ?? null;
}

/** What the page shows of other tables. */
export interface PurchaseSurroundings {
  tariffName: string | null;
  /** The recipient has used the messenger's bot. */
  isRecipientInBot: boolean;
}

export async function readSurroundings(db: Db, id: number): Promise<PurchaseSurroundings> {
  const [row] = await db.sql<PurchaseSurroundings>(
    `SELECT t.name AS tariff_name, coalesce(u.messenger_id IS NOT NULL AND u.status = 'active', false) AS is_recipient_in_bot
     FROM guest_purchases p LEFT JOIN tariffs t ON t.id = p.tariff_id LEFT JOIN users u ON u.id = p.user_id WHERE p.id = $1::int`,
    [id],
  );
  return row ?? { tariffName: null, isRecipientInBot: false };
}
