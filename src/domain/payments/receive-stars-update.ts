import type { App } from '../../core/app.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import type { UserRecord } from '../identity/types.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { text } from '../messaging/texts.ts';
import { purposeOf, type StarsPurpose } from './purpose-stars.ts';
import { storeCallback } from './receive-callback.ts';
import { isStarsTopup } from './rules.ts';

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
      return storeCallback(app, {
        provider: 'messenger_stars',
        eventKey: `${update.kind}:${update.chargeId}`,
        reference: { externalId: update.chargeId, orderId: null },
        body: JSON.stringify({ update, raw: rawBody }),
        subpath: '',
        headers: {},
        now: app.clock.now(),
      });
    default:
      return;
  }
}

type PreCheckout = Extract<MessengerUpdate, { kind: 'pre_checkout' }>;

/** Refuses, before the payment, unknown payers, unknown invoices and users who may not top up. */
async function answerPreCheckout(app: App, query: PreCheckout, purposes: readonly StarsPurpose[]): Promise<void> {
  const payer = await findUserByMessengerId(app, query.payerMessengerId);
  const refusal =
    payer?.status === 'active'
      ? await refusalOf(app, query, payer, purposes)
      : text(payer?.language, 'messages.stars_payer_unknown');
  try {
    if (refusal === null) await app.ports.messenger.answerPreCheckout(query.queryId, true);
    else await app.ports.messenger.answerPreCheckout(query.queryId, false, refusal);
  } catch (error) {
    // Without an answer the messenger refuses the payment, and the payer may try again.
    app.log.warn({ err: error }, 'a pre-checkout query could not be answered');
  }
}

async function refusalOf(
  app: App,
  query: PreCheckout,
  payer: UserRecord,
  purposes: readonly StarsPurpose[],
): Promise<string | null> {
  const purpose = purposeOf(purposes, query.payload);
  if (purpose) return purpose.refusalOf(app, query, payer);
  const isAccepted = isStarsTopup(query.payload) && !payer.restrictionTopup;
  return isAccepted ? null : text(payer.language, 'messages.stars_invoice_unknown');
}
