import type { HistoryPlan, PlannedAction } from '@subscription-service/sandbox/history/plan-history';
import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { applyCampaignAtSignIn } from '../campaigns/apply-at-sign-in.ts';
import { spinWheel } from '../engagement/wheel/spin-wheel.ts';
import { requireUser } from '../identity/find-user.ts';
import { signInAsMessengerUser } from '../identity/messenger-sign-in.ts';
import { creditPayment } from '../payments/credit-payment.ts';
import { SANDBOX_METHOD } from '../payments/payment-methods.ts';
import type { PaymentProvider, PaymentReport } from '../payments/ports.ts';
import { topupBalance } from '../payments/topup-balance.ts';
import { activatePromocode } from '../promo/codes/activate-promocode.ts';
import { activateTrial } from '../subscriptions/activate-trial.ts';
import { insufficientFundsForTrial } from '../subscriptions/purchase/insufficient-funds.ts';
import { purchaseDevices } from '../subscriptions/purchase-devices.ts';
import { purchaseTariff } from '../subscriptions/purchase-tariff.ts';
import { purchaseTraffic } from '../subscriptions/purchase-traffic.ts';
import { renewSubscription } from '../subscriptions/renew-subscription.ts';
import { setAutopay } from '../subscriptions/set-autopay.ts';
import { answerTicketByToken, openTicket, postUserMessage } from '../tickets/write-ticket.ts';

/** What the actions before have left: accounts and tickets by the numbers of the plan. */
export interface HistoryState {
  plan: HistoryPlan;
  tariffIds: readonly number[];
  /** By person. */
  userIds: Map<number, number>;
  /** The latest ticket by person. */
  ticketIds: Map<number, number>;
}

const once = { idempotencyKey: null };

/**
 * Carries out one action of a planned past by the use case that a person's request would call, at the time of the clock: with its checks,
 * prices, books, events and jobs.
 * @throws AppError what the use case refuses
 */
export async function performAction(app: App, state: HistoryState, action: PlannedAction): Promise<void> {
  if (action.kind === 'register') return register(app, state, action);
  const userId = state.userIds.get(action.person);
  if (userId === undefined) throw new Error(`person ${action.person} has no account`);
  const actor: UserActor = { kind: 'user', userId };
  switch (action.kind) {
    case 'trial':
      return void (await activateTrial(app, actor, null, insufficientFundsForTrial));
    case 'promocode':
      return void (await activatePromocode(app, actor, state.plan.promocodes[action.promocode]!.code, null));
    case 'topup':
      return topUp(app, actor, action);
    case 'purchase': {
      const tariffId = state.tariffIds[action.tariff]!;
      return void (await purchaseTariff(app, actor, { ...once, tariffId, periodDays: action.days, trafficGb: null }));
    }
    case 'renewal':
      return void (await renewSubscription(app, actor, { ...once, periodDays: action.days }));
    case 'autopay':
      return void (await setAutopay(app, actor, true, null));
    case 'traffic':
      return void (await purchaseTraffic(app, actor, { ...once, gb: action.gb }));
    case 'devices':
      return void (await purchaseDevices(app, actor, { ...once, devices: action.devices }));
    case 'spin':
      return void (await spinWheel(app, actor, 'subscription_days', null));
    case 'ticket': {
      const { id } = await openTicket(app, actor, { title: action.title, text: action.text });
      return void state.ticketIds.set(action.person, id);
    }
    case 'ticket_answer':
      return void (await answerTicketByToken(app, STAFF, state.ticketIds.get(action.person)!, { text: action.text }));
    case 'ticket_reply':
      return void (await postUserMessage(app, actor, state.ticketIds.get(action.person)!, { text: action.text }));
  }
}

const STAFF = { kind: 'token', tokenId: 0, name: 'sandbox fill' } as const;

async function register(app: App, state: HistoryState, action: Extract<PlannedAction, { kind: 'register' }>): Promise<void> {
  const { person, profile, referrer, campaign } = action;
  const referrerId = referrer === null ? undefined : state.userIds.get(referrer);
  const referralCode = referrerId === undefined ? null : (await requireUser(app, referrerId)).referralCode;
  const { user } = await signInAsMessengerUser(app, profile, { referralCode });
  await applyCampaignAtSignIn(app, user.id, campaign === null ? null : state.plan.campaigns[campaign]!.slug);
  state.userIds.set(person, user.id);
}

/** An invoice, and what the provider reports of it a little later. */
async function topUp(app: App, actor: UserActor, { kopeks, isPaid }: Extract<PlannedAction, { kind: 'topup' }>): Promise<void> {
  const request = { amountKopeks: kopeks, method: SANDBOX_METHOD.id, option: null };
  const { paymentId } = await topupBalance(app, actor, request, once);
  const report = await app.ports.payments
    .byMethod(SANDBOX_METHOD.id)!
    .fetchStatus({ externalId: pastId(paymentId), orderId: null });
  await creditPayment(app, paymentId, isPaid ? report : { ...report, status: 'failed', outcome: 'failed', paidAt: null });
}

/** Of an invoice at the provider of the past. */
const pastId = (paymentId: number) => `past-${paymentId}`;

/**
 * The fake provider of the past: it reports its invoices as paid and remembers none, because the sandbox keeps all its invoices in
 * one row.
 */
export function pastProvider(app: App, provider: PaymentProvider): PaymentProvider {
  const invoices = new Map<string, PaymentReport>();
  return {
    ...provider,
    createInvoice: async ({ paymentId, orderId, amountKopeks }) => {
      const externalId = pastId(paymentId);
      invoices.set(externalId, {
        ...{
          externalId,
          status: 'paid',
          outcome: 'paid',
          amountKopeks,
          currency: 'RUB',
          orderId,
          paidAt: app.clock.now(),
          raw: {},
        },
      });
      return { externalId, paymentUrl: 'http://127.0.0.1/pay', status: 'pending', expiresAt: null, raw: {} };
    },
    fetchStatus: async ({ externalId }) => {
      const report = invoices.get(externalId ?? '');
      if (!report) throw new Error(`no invoice ${externalId}`);
      invoices.delete(externalId!);
      return report;
    },
  };
}
