import type { App } from '../../core/app.ts';
import { committedStatement, retried } from '../../core/db/db-errors.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import type { UserRecord } from '../identity/types.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { text } from '../messaging/texts.ts';
import { creditSeenPayment } from './credit-payment.ts';
import { postUninvoiced, type UninvoicedRecord, upsertUninvoicedPayment } from './credit-repo.ts';
import { openCase } from './open-case.ts';
import { methodName } from './payment-methods.ts';
import { topupTitle } from './payment-texts.ts';
import type { PaymentReport } from './ports.ts';
import { type PaymentPurpose, purposeOf, type StarsPurpose } from './purpose-payment.ts';
import { storeCallback } from './receive-callback.ts';
import { applyReversals } from './reversals.ts';
import { newOrderId, oldStarsPayload, PENDING_MS } from './rules.ts';
import { kopeksForStars } from './stars-invoices.ts';
import { findByStarsCharge, findStarsPayment, type StarsPayment } from './stars-repo.ts';
import type { CaseKind, CreditResult } from './types.ts';

const METHOD = 'messenger_stars';

export type StarsMovement = Extract<MessengerUpdate, { kind: 'stars_paid' | 'stars_refunded' }>;
type StarsPaid = Extract<StarsMovement, { kind: 'stars_paid' }>;

/**
 * Applies a payment in Stars, once per charge of the messenger (03a section 1): its invoice says how many kopeks are credited to whom. Fewer
 * stars than the invoice, another currency, another payer and an unknown payload credit nothing and are cases. A payment for another purpose
 * is passed to that purpose.
 * @param starsPurposes what Stars pay by payloads of their own
 * @param purposes what invoices pay besides the balance
 */
export async function creditStars(
  app: App,
  paid: StarsPaid,
  starsPurposes: readonly StarsPurpose[] = [],
  purposes: readonly PaymentPurpose[] = [],
): Promise<CreditResult> {
  const purpose = paid.otherCurrency === undefined ? purposeOf(starsPurposes, paid.payload) : undefined;
  // Payloads of earlier software are never ids of records.
  const invoice = purpose || oldStarsPayload(paid.payload) ? null : await findStarsPayment(app.db, paid.payload);
  if (invoice) return payInvoice(app, paid, invoice, purposes);
  const payer = await findUserByMessengerId(app, paid.payerMessengerId);
  if (purpose && payer) return purpose.settle(app, paid, payer);
  const isKnown = purpose !== undefined || oldStarsPayload(paid.payload) !== null;
  if (!isKnown || paid.otherCurrency !== undefined) return keepUncredited(app, paid, 'unknown_payment');
  return payer ? creditOldInvoice(app, paid, payer) : keepUncredited(app, paid, 'no_user');
}

async function payInvoice(
  app: App,
  paid: StarsPaid,
  invoice: StarsPayment,
  purposes: readonly PaymentPurpose[],
): Promise<CreditResult> {
  if (invoice.transactionId !== null && invoice.chargeId === paid.chargeId) return 'already_credited';
  if (invoice.userId !== null) {
    const payer = await findUserByMessengerId(app, paid.payerMessengerId);
    if (payer?.id !== invoice.userId) {
      const { chargeId, payerMessengerId, stars } = paid;
      await openCase(app, {
        ...{
          kind: 'order_mismatch',
          payment: invoice,
          reference: `${invoice.id}:${chargeId}`,
          amountKopeks: invoice.amountKopeks,
          chargeId,
        },
        details: { chargeId, payerMessengerId, stars },
      });
      return 'order_mismatch';
    }
  }
  return creditSeenPayment(app, invoice, paidState(paid, invoice, app.clock.now()), purposes);
}

/** What the messenger reported of an invoice. Stars that differ from its price are a share of its kopeks, rounded down. */
function paidState(paid: StarsPaid, { amountKopeks, currency, stars: price }: StarsPayment, now: Date): PaymentReport {
  const asked = price ?? paid.stars;
  return {
    ...{ externalId: paid.payload, orderId: paid.payload, chargeId: paid.chargeId, status: 'paid', paidAt: now, raw: paid },
    outcome: paid.stars < asked ? 'underpaid' : 'paid',
    amountKopeks: paid.otherCurrency === undefined ? Math.floor((amountKopeks * paid.stars) / asked) : paid.stars,
    currency: paid.otherCurrency ?? currency,
  };
}

/**
 * Credits the worth of the stars at the current rate: an invoice that was open when the installation changed to this service has no record.
 * What it was to pay for besides the balance is not sold here, so that the money goes to the balance too.
 */
async function creditOldInvoice(app: App, paid: StarsPaid, payer: UserRecord): Promise<CreditResult> {
  const record = chargeRecord(app, paid, payer.language);
  const result = await committedStatement(app, () => postUninvoiced(app.db, payer.id, record, methodName(app, METHOD)));
  if (result === 'no_user') return keepUncredited(app, paid, 'no_user');
  if (result === 'credited') {
    app.jobs.wake(['payments.after-topup']);
    app.log.warn({ userId: payer.id, payload: paid.payload, chargeId: paid.chargeId }, 'an old invoice in Stars was credited');
  }
  return result;
}

/** Records a charge that is credited to nobody, with its case; it can be given back to the payer. */
async function keepUncredited(
  app: App,
  paid: StarsPaid,
  kind: Extract<CaseKind, 'unknown_payment' | 'no_user'>,
): Promise<CreditResult> {
  const { chargeId, payerMessengerId, payload, stars, otherCurrency = null } = paid;
  const record = chargeRecord(app, paid, null);
  const status = kind === 'no_user' ? 'payer_unknown' : 'invoice_unknown';
  const uncredited = { ...record, userId: null, status, transactionId: null };
  const id = await retried(app, () => upsertUninvoicedPayment(app.db, uncredited));
  if (id === null) return 'already_credited';
  await openCase(app, {
    ...{ kind, payment: { id, method: METHOD, userId: null }, reference: chargeId, chargeId },
    amountKopeks: otherCurrency === null ? record.amountKopeks : null,
    details: { chargeId, payerMessengerId, payload, stars, currency: otherCurrency },
  });
  return kind === 'no_user' ? 'no_user' : 'order_mismatch';
}

function chargeRecord(app: App, paid: StarsPaid, language: string | null): UninvoicedRecord {
  return {
    ...{ method: METHOD, orderId: newOrderId(app.random), chargeId: paid.chargeId, update: paid, now: app.clock.now() },
    amountKopeks: kopeksForStars(paid.stars, app.settings.get('MESSENGER_STARS_RATE_RUB')),
    description: topupTitle(app, METHOD, language),
  };
}

/**
 * Applies a refund of Stars, which is always of the whole charge. It may be processed before its payment: the invoice then is refunded, and the
 * payment credits nothing. Of an invoice that another charge has paid nothing is taken (spec 10 M1).
 */
export async function recordStarsRefund(
  app: App,
  { chargeId, payload }: Extract<StarsMovement, { kind: 'stars_refunded' }>,
): Promise<CreditResult> {
  const payment =
    (await findByStarsCharge(app.db, chargeId)) ??
    (await unpaidInvoice(app, payload)) ??
    // Credited between both reads.
    (await findByStarsCharge(app.db, chargeId));
  await applyReversals(app, METHOD, payment, {
    // The charge alone says whose money it is: a payload may be none of a record.
    ...{ chargeId, externalId: null, orderId: null, status: 'refunded', outcome: 'pending', paidAt: null, raw: null },
    ...{ amountKopeks: payment?.amountKopeks ?? 0, currency: payment?.currency ?? 'RUB' },
    reversals: [{ reversalId: chargeId, kind: 'refund', amountKopeks: null }],
  });
  return payment ? 'refunded' : 'order_mismatch';
}

/** An invoice that another charge has paid is not the one that was given back. */
async function unpaidInvoice(app: App, payload: string): Promise<StarsPayment | null> {
  const invoice = await findStarsPayment(app.db, payload);
  return invoice?.transactionId === null ? invoice : null;
}

/**
 * Receives the updates of the messenger that are about Stars and ignores all others. A pre-checkout query is answered at once, since the
 * messenger waits ten seconds; payments and refunds are stored once per charge and processed by a job (spec 00, Outside effects; spec 03
 * section 2.5).
 * @param purposes what Stars pay besides top-ups
 */
export async function receiveStarsUpdate(
  app: App,
  update: MessengerUpdate,
  rawBody: string,
  purposes: readonly StarsPurpose[] = [],
): Promise<void> {
  switch (update.kind) {
    case 'pre_checkout':
      return answerPreCheckout(app, update, purposes);
    case 'stars_paid':
    case 'stars_refunded':
      return storeStarsMovement(app, update, rawBody);
    default:
      return;
  }
}

/** What makes a movement of Stars one event, however often and by whatever way it is reported. */
export function starsEventKey({ kind, chargeId }: Pick<StarsMovement, 'kind' | 'chargeId'>): string {
  return `${kind}:${chargeId}`;
}

/** Stores a movement of Stars once, with the job that processes it. @param raw what reported it, JSON */
export function storeStarsMovement(app: App, update: StarsMovement, raw: string): Promise<void> {
  return storeCallback(app, {
    provider: 'messenger_stars',
    eventKey: starsEventKey(update),
    reference: { externalId: update.chargeId, orderId: null },
    body: JSON.stringify({ update, raw }),
    ...{ subpath: '', headers: {}, now: app.clock.now() },
  });
}

type PreCheckout = Extract<MessengerUpdate, { kind: 'pre_checkout' }>;

/** Refuses, before the payment, unknown payers, unknown invoices and users who may not top up. */
async function answerPreCheckout(app: App, query: PreCheckout, purposes: readonly StarsPurpose[]): Promise<void> {
  const refusal = await refusalOf(app, query, purposes);
  try {
    if (refusal === null) await app.ports.messenger.answerPreCheckout(query.queryId, true);
    else await app.ports.messenger.answerPreCheckout(query.queryId, false, refusal);
  } catch (error) {
    // Without an answer the messenger refuses the payment, and the payer may try again.
    app.log.warn({ err: error }, 'a pre-checkout query could not be answered');
  }
}

/** @returns the sentence shown to the payer; null = may be paid */
async function refusalOf(app: App, query: PreCheckout, purposes: readonly StarsPurpose[]): Promise<string | null> {
  const purpose = purposeOf(purposes, query.payload);
  const invoice = purpose ? null : await findStarsPayment(app.db, query.payload);
  const payer = await findUserByMessengerId(app, query.payerMessengerId);
  const unknownInvoice = text(payer?.language, 'messages.stars_invoice_unknown');
  // An invoice without an owner is of a guest: anybody may pay it.
  const isOpenToAll = invoice !== null && invoice.userId === null;
  if (!isOpenToAll && payer?.status !== 'active') return text(payer?.language, 'messages.stars_payer_unknown');
  if (query.otherCurrency !== undefined) return unknownInvoice;
  if (purpose) return payer && purpose.refusalOf(app, query, payer);
  const isPayable = invoice ? isPayableBy(invoice, query, payer, app.clock.now()) : oldStarsPayload(query.payload) === 'topup';
  return isPayable && !payer?.restrictionTopup ? null : unknownInvoice;
}

function isPayableBy(invoice: StarsPayment, query: PreCheckout, payer: UserRecord | null, now: Date): boolean {
  const isOpen = invoice.outcome === 'pending' && !invoice.isPaid && now.getTime() - invoice.createdAt.getTime() <= PENDING_MS;
  const isOwner = invoice.userId === null || invoice.userId === payer?.id;
  return isOpen && isOwner && invoice.stars === query.amountStars;
}
