import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { escapeHtml, htmlText, type TextKey, text } from '../../messaging/texts.ts';
import { readStarsInvoice, recordStarsCharge, type StarsPurpose, storeStarsInvoice } from '../../payments/purpose-payment.ts';
import { kopeksForStars } from '../../payments/stars-invoices.ts';
import { isActive } from '../../subscriptions/rules/status.ts';
import { isLimitReached, type SpinFacts } from './rules.ts';
import { drawPrize, lockSpinner, type Spinner } from './spin-wheel.ts';

export const wheelInvoiceRefused = refusal('wheel_invoice_refused', 400, 'The wheel is off at the moment');
const wheelInvoiceFailed = refusal('wheel_invoice_failed', 500, 'The invoice could not be created. Try again later');

const METHOD = 'messenger_stars';
const PREFIX = 'wheel_spin_';

/** Why a spin cannot be paid by an invoice now; null = it can. */
function invoiceRefusal({ config, subscription, spinsToday, activePrizes, now }: SpinFacts): TextKey | null {
  if (!config.isEnabled) return 'games.wheel_disabled';
  if (!config.spinCostStarsEnabled) return 'games.wheel_stars_off';
  if (!subscription || !isActive(subscription, now)) return 'games.wheel_needs_subscription';
  if (isLimitReached(config, spinsToday)) return 'games.wheel_daily_limit';
  return activePrizes === 0 ? 'games.wheel_no_prizes' : null;
}

/**
 * A link by which the user pays one spin in Stars in the messenger. The request is stored before the link is created.
 * @throws AppError 400 | 500
 */
export async function createSpinInvoice(app: App, { userId }: UserActor): Promise<{ invoiceUrl: string; stars: number }> {
  const invoice = await inTransaction(app, async (t) => {
    const spinner = await lockSpinner(t, userId);
    if (!spinner) throw new Error('the user of the session does not exist');
    const { language, facts } = spinner;
    const isOff = !t.settings.get('MESSENGER_STARS_ENABLED');
    const refusal = invoiceRefusal(facts) ?? (isOff ? 'games.wheel_stars_off' : null);
    if (refusal) throw wheelInvoiceRefused({ detail: text(language, refusal) });
    const stars = facts.config.spinCostStars;
    const payload = `${PREFIX}${userId}_${Math.floor(facts.now.getTime() / 1_000)}`;
    const title = text(language, 'games.wheel_invoice_title');
    const description = text(language, 'games.wheel_invoice_description', { name: facts.config.name });
    const amountKopeks = kopeksForStars(stars, t.settings.get('MESSENGER_STARS_RATE_RUB'));
    await storeStarsInvoice(t, { userId, payload, stars, amountKopeks, purpose: 'wheel_spin', description: title });
    return { title, description, payload, stars, language };
  });
  try {
    const { language: _, ...request } = invoice;
    return { invoiceUrl: await app.ports.messenger.createStarsInvoiceLink(request), stars: invoice.stars };
  } catch (error) {
    app.log.warn({ err: error, userId }, 'a Stars invoice of a spin could not be made');
    throw wheelInvoiceFailed({ detail: text(invoice.language, 'games.wheel_invoice_failed'), cause: error });
  }
}

/** Spins paid by an invoice of Stars (spec 04 sections 13.5 and 13.7). */
export const wheelStars: StarsPurpose = {
  prefix: PREFIX,

  async refusalOf(app, query, payer) {
    return inTransaction(app, async (t) => {
      const spinner = await lockSpinner(t, payer.id);
      const invoice = await readStarsInvoice(t, query.payload, false);
      const isOurs = invoice?.userId === payer.id && invoice.stars === query.amountStars && !invoice.isPaid;
      if (!spinner || !isOurs) return text(payer.language, 'messages.stars_invoice_unknown');
      const refusal = invoiceRefusal(spinner.facts);
      return refusal && text(payer.language, refusal);
    });
  },

  async settle(app, paid, payer) {
    return inTransaction(app, async (t) => {
      const spinner = await lockSpinner(t, payer.id);
      if (!spinner) return 'no_user';
      const stored = await readStarsInvoice(t, paid.payload, true);
      const invoice = stored?.userId === payer.id && stored.stars === paid.stars && !stored.isPaid ? stored : null;
      const refusal = invoice ? invoiceRefusal(spinner.facts) : 'messages.stars_invoice_unknown';
      const amountKopeks = kopeksForStars(paid.stars, t.settings.get('MESSENGER_STARS_RATE_RUB'));
      const transactionId = await post(t, spinner, { chargeId: paid.chargeId, amountKopeks, isRefund: refusal !== null });
      if (transactionId === null) return 'already_credited';
      const { chargeId } = paid;
      const description = text(spinner.language, titleOf(refusal !== null));
      const charge = { chargeId, transactionId, update: paid, userId: payer.id, amountKopeks, description };
      await recordStarsCharge(t, invoice, charge);
      const html =
        refusal === null && invoice
          ? await spinFor(t, spinner, { ...charge, stars: paid.stars, paymentId: invoice.id })
          : refundMessage(spinner, refusal ?? 'messages.stars_invoice_unknown', amountKopeks);
      await sendMessage(t, { messengerId: paid.payerMessengerId, html });
      return 'credited';
    });
  },
};

const titleOf = (isRefund: boolean): TextKey => (isRefund ? 'games.transaction_wheel_refund' : 'games.transaction_wheel_spin');

/**
 * The one ledger row of a charge, unique by its id: the price of a spin, which is not booked on the wallet, or the refund to it.
 * @returns null when the charge has been posted before
 */
async function post(
  t: App,
  { userId, language }: Spinner,
  charge: { chargeId: string; amountKopeks: number; isRefund: boolean },
): Promise<number | null> {
  const { chargeId, amountKopeks, isRefund } = charge;
  const row = { userId, paymentMethod: METHOD, externalId: chargeId, description: text(language, titleOf(isRefund)) };
  const posting = isRefund
    ? await postMovement(t, { ...row, type: 'refund', amountKopeks, contra: { kind: 'provider_clearing', provider: METHOD } })
    : await postMovement(t, {
        ...row,
        type: 'withdrawal',
        amountKopeks: -amountKopeks,
        contra: { kind: 'bonus_expense', bonus: 'wheel' },
        paidThroughProvider: METHOD,
      });
  if (posting.outcome === 'duplicate') return null;
  if (posting.outcome !== 'posted') throw new Error(`a Stars charge of a spin was ${posting.outcome}`);
  return posting.transactionId;
}

interface SpinCharge {
  chargeId: string;
  transactionId: number;
  amountKopeks: number;
  stars: number;
  paymentId: number;
}

async function spinFor(t: App, spinner: Spinner, charge: SpinCharge): Promise<string> {
  const won = await drawPrize(t, spinner, {
    type: METHOD,
    amount: charge.stars,
    valueKopeks: charge.amountKopeks,
    debitTransactionId: charge.transactionId,
    paymentId: charge.paymentId,
    chargeId: charge.chargeId,
    subscription: spinner.facts.subscription,
  });
  return `🎡 <b>${escapeHtml(`${won.emoji} ${won.displayName}`)}</b>\n\n${escapeHtml(won.message)}`;
}

function refundMessage({ language }: Spinner, refusal: TextKey, amountKopeks: number): string {
  return htmlText(language, 'games.wheel_refunded', {
    reason: text(language, refusal),
    amount: formatPrice(amountKopeks, false),
  });
}
