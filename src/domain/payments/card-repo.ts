import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { isRowId } from '../../core/row-id.ts';
import { PAYMENT } from './repo.ts';
import type { Payment } from './types.ts';

/** Opens today's charge of a subscription with its job, in one statement. @returns whether it is new */
export async function openCharge(db: Db, subscriptionId: number, day: string, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `WITH opened AS (
       INSERT INTO recurrent_charges (subscription_id, charge_date, created_at) VALUES ($1::int, $2::date, $3::timestamptz)
       ON CONFLICT (subscription_id, charge_date) DO NOTHING RETURNING id)
     SELECT send_job('payments.charge-card', jsonb_build_object('chargeId', opened.id)) AS sent FROM opened`,
    [subscriptionId, day, now],
  );
  return rows.length > 0;
}

const CHARGE = columns('RecurrentCharge', ['id', 'subscriptionId']);
const OWNER = columns('User', ['messengerId', 'language']);

/** An open charge and the owner of its subscription; `day` as `2026-11-22`, UTC. */
export type OpenCharge = RowOf<typeof CHARGE> &
  RowOf<typeof OWNER> & { day: string; userId: number; userStatus: string; email: string | null; verifiedEmail: string | null };

/** Null when the charge has ended. */
export async function findOpenCharge(db: Db, id: number): Promise<OpenCharge | null> {
  const [row] = await db.sql<OpenCharge>(
    `SELECT ${CHARGE.of('c')}, c.charge_date::text AS day, s.user_id, ${OWNER.of('u')}, u.status AS user_status, u.email,
       CASE WHEN u.email_verified THEN u.email END AS verified_email
     FROM recurrent_charges c JOIN subscriptions s ON s.id = c.subscription_id JOIN users u ON u.id = s.user_id
     WHERE c.id = $1::int AND c.status = 'open'`,
    [id],
  );
  return row ?? null;
}

/** @returns false when the charge had ended before */
export async function finishCharge(db: Db, id: number, status: 'paid' | 'failed' | 'not_due', now: Date): Promise<boolean> {
  const rows = await db.sql<{ id: number }>(
    "UPDATE recurrent_charges SET status = $2, finished_at = $3::timestamptz WHERE id = $1::int AND status = 'open' RETURNING id",
    [id, status, now],
  );
  return rows.length > 0;
}

/**
 * Locks the open charges of a subscription for the choice of the next card, so that two runs do not choose at once, also those of two days.
 * @returns `ended`, also when a card has paid; `tried` = an attempt of another run or of an earlier day is undecided; `open` = the next card may be tried
 */
export async function lockCharge(
  t: Db,
  { id, subscriptionId }: Pick<OpenCharge, 'id' | 'subscriptionId'>,
): Promise<'open' | 'tried' | 'ended'> {
  const open = await t.sql<{ id: number }>(
    "SELECT id FROM recurrent_charges WHERE subscription_id = $1::int AND status = 'open' ORDER BY id FOR UPDATE",
    [subscriptionId],
  );
  if (!open.some((charge) => charge.id === id)) return 'ended';
  const [tried] = await t.sql<{ status: string }>(
    `SELECT a.status FROM recurrent_charges c JOIN recurrent_attempts a ON a.charge_id = c.id
     WHERE c.subscription_id = $1::int AND (a.status = 'open' OR (a.status = 'paid' AND c.id = $2::int)) ORDER BY a.status DESC LIMIT 1`,
    [subscriptionId, id],
  );
  if (!tried) return 'open';
  return tried.status === 'paid' ? 'ended' : 'tried';
}

const CARD = columns('SavedPaymentMethod', ['id', 'provider', 'providerMethodId']);
export type ChargeableCard = RowOf<typeof CARD>;

/** The newest active card that the charge has not tried, locked so that it is not unlinked before the attempt is stored. */
export async function lockNextCard(t: Db, chargeId: number, userId: number, provider: string): Promise<ChargeableCard | null> {
  const [row] = await t.sql<ChargeableCard>(
    `SELECT ${CARD.of('m')} FROM saved_payment_methods m
     WHERE m.user_id = $2::int AND m.provider = $3 AND m.is_active
       AND NOT EXISTS (SELECT 1 FROM recurrent_attempts a WHERE a.charge_id = $1::int AND a.saved_method_id = m.id)
     ORDER BY m.created_at DESC, m.id DESC LIMIT 1 FOR SHARE OF m`,
    [chargeId, userId, provider],
  );
  return row ?? null;
}

export async function insertAttempt(
  t: Db,
  attempt: { chargeId: number; savedMethodId: number; paymentId: number; now: Date },
): Promise<void> {
  const { chargeId, savedMethodId, paymentId, now } = attempt;
  await t.prisma.recurrentAttempt.create({ data: { chargeId, savedMethodId, paymentId, createdAt: now }, select: { id: true } });
}

/** An attempt whose result is not known yet, with its card and payment. */
export interface OpenAttempt {
  id: number;
  chargeId: number;
  isCardActive: boolean;
  card: ChargeableCard;
  payment: Payment;
}

/** The oldest of a subscription, whatever the day of its charge: money that may be on its way is waited for. */
export async function findOpenAttempt(db: Db, subscriptionId: number): Promise<OpenAttempt | null> {
  const [row] = await db.sql<ChargeableCard & { attemptId: number; chargeId: number; isActive: boolean; paymentId: number }>(
    `SELECT a.id AS attempt_id, a.charge_id, a.payment_id, m.is_active, ${CARD.of('m')}
     FROM recurrent_charges c JOIN recurrent_attempts a ON a.charge_id = c.id JOIN saved_payment_methods m ON m.id = a.saved_method_id
     WHERE c.subscription_id = $1::int AND a.status = 'open' ORDER BY a.id LIMIT 1`,
    [subscriptionId],
  );
  if (!row) return null;
  const { attemptId, chargeId, isActive, paymentId, ...card } = row;
  const [payment] = await db.sql<RowOf<typeof PAYMENT>>(`SELECT ${PAYMENT.of()} FROM payments WHERE id = $1::int`, [paymentId]);
  return { id: attemptId, chargeId, isCardActive: isActive, card, payment: payment! };
}

export async function finishAttempt(db: Db, id: number, status: 'paid' | 'failed', reason: string | null): Promise<void> {
  await db.sql(
    "UPDATE recurrent_attempts SET status = $2, reason = left($3, 100) WHERE id = $1::int AND status = 'open' RETURNING id",
    [id, status, reason],
  );
}

/** A card that the provider has stored (spec 03 section 5.2). */
export type SavedCard = Pick<Rows['SavedPaymentMethod'], 'id' | 'methodType' | 'cardLast4' | 'cardType' | 'title' | 'createdAt'>;

export function listActiveCards(db: Db, userId: number): Promise<SavedCard[]> {
  return db.prisma.savedPaymentMethod.findMany({
    where: { userId, isActive: true },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: 100,
    select: { id: true, methodType: true, cardLast4: true, cardType: true, title: true, createdAt: true },
  });
}

/** @returns false when the user has no such active card */
export async function deactivateCard(db: Db, userId: number, cardId: number, now: Date): Promise<boolean> {
  if (!isRowId(cardId)) return false;
  const { count } = await db.prisma.savedPaymentMethod.updateMany({
    where: { id: cardId, userId, isActive: true },
    data: { isActive: false, updatedAt: now },
  });
  return count > 0;
}
