import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { type Refusal, refusal } from '../../core/errors.ts';
import { userNotFound } from '../identity/errors.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { withPushedLink } from '../subscription-state/provision-state.ts';
import { pickTrialSquads } from './grant-subscription.ts';
import { completeSale, openSale, soldSubscription } from './purchase/complete-sale.ts';
import { type InsufficientFundsRefusal, noServers, requireServers } from './purchase/insufficient-funds.ts';
import type { SaleStart } from './purchase/types.ts';
import { startTrial, TRIAL_REFUSAL_TEXTS, type TrialRefusal, trialPrice, trialRefusal } from './rules/trial.ts';
import type { SubscriptionView } from './rules/view.ts';
import { autopayDefaults, subscriptionSettingsOf } from './settings.ts';
import { readTrialTerms } from './trial-terms.ts';

const trialHasSubscription = refusal('subscription_exists', 400, TRIAL_REFUSAL_TEXTS.active_subscription);
/** Without a subscription a used trial means that the user has paid before. */
const TRIAL_REFUSALS: Readonly<Record<TrialRefusal, Refusal>> = {
  account_type: refusal('trial_unavailable', 400, TRIAL_REFUSAL_TEXTS.account_type),
  trial_disabled: refusal('trial_disabled', 400, TRIAL_REFUSAL_TEXTS.trial_disabled),
  active_subscription: trialHasSubscription,
  trial_used: refusal('trial_expired', 400, TRIAL_REFUSAL_TEXTS.trial_used),
};

export const TRIAL_REFUSES = [noServers, ...Object.values(TRIAL_REFUSALS)];

/** A trial that was started; days, kopeks. */
export interface ActivatedTrial {
  subscription: SubscriptionView;
  message: string;
  durationDays: number;
  chargedKopeks: number;
  /** After the charge. */
  balanceKopeks: number;
}

/**
 * Starts the user's trial, once per idempotency key: the fee, if there is one, and the subscription in one transaction; eligibility is
 * the test that `GET /trial` shows (spec 02 section 5.7). Without a fee nothing is charged and the user does not count as one who paid.
 * The answer, a repeated one too, has the link if the panel gave it in time (spec 08 P14).
 * @param insufficient refusal of a fee that the balance does not cover
 * @throws AppError 400 subscription_exists, trial_expired, trial_disabled, trial_unavailable, no_servers | `insufficient`
 */
export async function activateTrial(
  app: App,
  actor: UserActor,
  idempotencyKey: string | null,
  insufficient: InsufficientFundsRefusal,
): Promise<ActivatedTrial> {
  const once = { key: idempotencyKey, operation: 'subscription.trial', input: {} };
  const trial = await runOnceFrom(
    app,
    actor,
    once,
    (t, claim) => openSale(t, actor.userId, { servers: 'always' }, claim),
    (t, start) => startTrialFrom(t, start, insufficient),
  );
  return withPushedLink(app, trial);
}

async function startTrialFrom(t: App, start: SaleStart | null, insufficient: InsufficientFundsRefusal): Promise<ActivatedTrial> {
  if (!start) throw userNotFound();
  const { buyer, subscription } = start;
  refuseIneligible(t, start);
  const { tariff, ...terms } = await readTrialTerms(t);
  const squads = await pickTrialSquads(t, terms.squads, start.servers);
  const feeKopeks = trialPrice(subscriptionSettingsOf(t));
  const started = startTrial(terms, squads, t.clock.now());
  requireServers(null, started);
  const sale = await completeSale(t, start, {
    order: { kind: 'trial' },
    quote: { finalKopeks: feeKopeks, offerDiscountKopeks: 0 },
    changes: subscription === null ? { ...started, ...autopayDefaults(t) } : started,
    dropsPurchases: true,
    serverPrices: {},
    conversion: null,
    description: text(buyer.language, 'subscriptions.transaction_trial'),
    refusal: (missingKopeks) => insufficient(t, buyer, { requiredKopeks: feeKopeks, missingKopeks }),
    event: () => ({
      type: 'activation',
      extra: {
        charged_amount_kopeks: feeKopeks,
        trial_duration_days: terms.durationDays,
        traffic_limit_gb: terms.trafficLimitGb,
        device_limit: terms.deviceLimit,
      },
    }),
    tariffName: tariff?.name ?? null,
    isTerm: true,
    marksPaid: feeKopeks > 0,
    resetsTraffic: true,
    sendsMail: false,
  });
  return {
    subscription: soldSubscription(t, { buyer, tariff, sale, usedOffer: false }),
    message: text(buyer.language, 'subscriptions.trial_started', { days: terms.durationDays }),
    durationDays: terms.durationDays,
    chargedKopeks: feeKopeks,
    balanceKopeks: sale.balanceKopeks,
  };
}

function refuseIneligible(t: App, { buyer, subscription }: SaleStart): void {
  const reason = trialRefusal({ ...buyer, subscription }, subscriptionSettingsOf(t), t.clock.now());
  if (reason === null) return;
  const isOrder = subscription?.status === 'pending' && subscription.isTrial;
  const refused = subscription !== null && !isOrder ? trialHasSubscription : TRIAL_REFUSALS[reason];
  throw refused({ detail: TRIAL_REFUSAL_TEXTS[reason] });
}
