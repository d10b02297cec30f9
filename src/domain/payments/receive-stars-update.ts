import type { App } from '../../core/app.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import type { UserRecord } from '../identity/types.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { text } from '../messaging/texts.ts';
import type { StarsMovement } from './credit-stars.ts';
import { purposeOf, type StarsPurpose } from './purpose-stars.ts';
import { storeCallback } from './receive-callback.ts';
import { oldStarsPayload, PENDING_MS } from './rules.ts';
import { findStarsPayment, type StarsPayment } from './stars-invoice-repo.ts';

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
