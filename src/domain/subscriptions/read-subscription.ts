import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { listSquads } from '../catalog/find-squads.ts';
import { findTariff, listVisibleTariffs } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { text } from '../messaging/texts.ts';
import type { PricingSettings } from '../pricing/types.ts';
import { type ClassicOptions, classicOptions } from './classic-options.ts';
import { noSubscription } from './errors.ts';
import { pickTrialSquads } from './grant-subscription.ts';
import { NO_SERVERS, requireBuyerDetails } from './purchase/insufficient-funds.ts';
import { type Quoted, quoteSigner } from './purchase/signed-quote.ts';
import { type TariffsOptions, tariffOptions } from './purchase-options.ts';
import { quotedTraffic, quoteTrafficOrNull } from './purchase-traffic.ts';
import { type ConnectionLink, connectionLink } from './rules/connection-link.ts';
import { quotedRenewal, type RenewalOption, renewalOptions } from './rules/terms.ts';
import { TRIAL_REFUSAL_TEXTS, trialPrice, trialRefusal } from './rules/trial.ts';
import { type SubscriptionView, viewSubscription } from './rules/view.ts';
import { pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';
import { readTrialTerms } from './trial-terms.ts';

/** The user's subscription as it is now; null without one. Never writes (spec 02 section 5.1, H29). */
export async function readSubscription(app: App, actor: UserActor): Promise<SubscriptionView | null> {
  const { buyer, details } = await requireBuyerDetails(app, actor);
  if (!details) return null;
  const { subscription, servers, purchases } = details;
  return viewSubscription({
    subscription,
    tariff: subscription.tariffId === null ? null : await findTariff(app, subscription.tariffId),
    purchases,
    squads: servers,
    user: buyer,
    settings: pricingSettingsOf(app),
    hideSubscriptionLink: app.settings.get('HIDE_SUBSCRIPTION_LINK'),
    defaultTrafficReset: app.settings.get('DEFAULT_TRAFFIC_RESET_STRATEGY'),
    now: app.clock.now(),
  });
}

/** The periods of a renewal with the very prices it charges; none without a subscription (spec 02 section 5.1, H5). */
export async function listRenewalOptions(app: App, actor: UserActor): Promise<Quoted<RenewalOption>[]> {
  const { buyer, details } = await requireBuyerDetails(app, actor);
  if (!details) return [];
  const { subscription } = details;
  const tariff = subscription.tariffId === null ? null : await findTariff(app, subscription.tariffId);
  const servers = tariff === null ? await listSquads(app) : [];
  const input = { subscription, tariff, servers, user: buyer, settings: pricingSettingsOf(app), now: app.clock.now() };
  const sign = await quoteSigner(app);
  return renewalOptions(input).map((option) => {
    const { periodDays, priceKopeks } = option;
    return {
      ...option,
      quote: sign({ ...quotedRenewal(input, { kind: 'renewal', periodDays }), userId: buyer.id, priceKopeks }),
    };
  });
}

/** What can be bought, in the form of the sales mode (spec 02 section 5.8). */
export async function readPurchaseOptions(app: App, actor: UserActor): Promise<TariffsOptions | ClassicOptions> {
  const { buyer, details } = await requireBuyerDetails(app, actor);
  const settings = pricingSettingsOf(app);
  const squads = await listSquads(app);
  const input = { subscription: details?.subscription ?? null, user: buyer, squads, settings, now: app.clock.now() };
  if (settings.salesMode === 'classic') return classicOptions(input);
  const tariffs = await listVisibleTariffs(app, buyer.primaryPromoGroup);
  const defaultTrafficReset = app.settings.get('DEFAULT_TRAFFIC_RESET_STRATEGY');
  return tariffOptions({ ...input, tariffs, sign: await quoteSigner(app), defaultTrafficReset });
}

/** A traffic package on offer; GB (0 = unlimited), kopeks before any discount. */
export interface TrafficOffer {
  gb: number;
  priceKopeks: number;
  /** Signed, of what is charged for the rest of the time; null where the subscription cannot buy it now. See `requireQuoted`. */
  quote: string | null;
}

/** Traffic packages for the user's subscription (spec 02 section 5.1); none without one (spec 10 X6). */
export async function listTrafficPackages(app: App, actor: UserActor): Promise<TrafficOffer[]> {
  const { buyer, details } = await requireBuyerDetails(app, actor);
  const subscription = details?.subscription ?? null;
  if (subscription === null) return [];
  const tariff = subscription.tariffId === null ? null : await findTariff(app, subscription.tariffId);
  const sign = await quoteSigner(app);
  return trafficPackages(pricingSettingsOf(app), tariff).map((offer) => {
    const quote = quoteTrafficOrNull(app, buyer, { subscription, tariff }, offer.gb);
    if (!quote) return { ...offer, quote: null };
    const sale = {
      ...quotedTraffic(subscription, { kind: 'traffic', gb: offer.gb }),
      userId: buyer.id,
      priceKopeks: quote.finalKopeks,
    };
    return { ...offer, quote: sign(sale) };
  });
}

function trafficPackages(settings: PricingSettings, tariff: Tariff | null): Omit<TrafficOffer, 'quote'>[] {
  if (settings.salesMode === 'tariffs' && tariff !== null) {
    if (!tariff.trafficTopupEnabled || tariff.trafficLimitGb === 0) return [];
    return Object.entries(tariff.trafficTopupPackages)
      .map(([gb, priceKopeks]) => ({ gb: Number(gb), priceKopeks }))
      .filter((offer) => offer.priceKopeks > 0)
      .sort((a, b) => a.gb - b.gb);
  }
  if (!settings.trafficTopupEnabled || tariff?.allowTrafficTopup === false) return [];
  return settings.trafficTopupPackages
    .filter((entry) => entry.isEnabled && entry.priceKopeks > 0)
    .map(({ gb, priceKopeks }) => ({ gb, priceKopeks }));
}

/**
 * Whether the user may take a trial and what it gives; the same test as taking one (spec 02 sections 5.1 and 5.7).
 * @returns what a trial would give: days, GB (0 = unlimited), devices, kopeks
 */
export async function readTrialInfo(app: App, actor: UserActor) {
  const { buyer, details } = await requireBuyerDetails(app, actor);
  const settings = subscriptionSettingsOf(app);
  const terms = await readTrialTerms(app);
  const hasServers = (await pickTrialSquads(app, terms.squads, await listSquads(app))).length > 0;
  const refusal = trialRefusal({ ...buyer, subscription: details?.subscription ?? null }, settings, app.clock.now());
  return {
    isAvailable: refusal === null && hasServers,
    durationDays: terms.durationDays,
    trafficLimitGb: terms.trafficLimitGb,
    deviceLimit: terms.deviceLimit,
    requiresPayment: settings.trialPaymentEnabled,
    priceKopeks: refusal === 'account_type' ? 0 : trialPrice(settings),
    reasonUnavailable: refusal !== null ? TRIAL_REFUSAL_TEXTS[refusal] : hasServers ? null : NO_SERVERS,
  };
}

export const linkNotGenerated = refusal('link_not_generated', 404, 'Subscription link not yet generated');

/**
 * The links to connect with, and the steps of connecting (spec 02 section 5.14).
 * @throws AppError 404 `No subscription found` | 404 `Subscription link not yet generated` until the panel has one
 */
export async function readConnectionLink(app: App, actor: UserActor): Promise<ConnectionLink & { steps: string[] }> {
  const found = await requireBuyerDetails(app, actor);
  if (!found.details) throw noSubscription();
  const link = connectionLink(found.details.subscription, {
    connectMode: app.settings.get('CONNECT_BUTTON_MODE'),
    hideSubscriptionLink: app.settings.get('HIDE_SUBSCRIPTION_LINK'),
    redirectTemplate: app.settings.get('HAPP_CRYPTOLINK_REDIRECT_TEMPLATE'),
  });
  if (!link) throw linkNotGenerated();
  const { language } = found.buyer;
  const steps = [
    text(language, 'messages.connection_step_1'),
    text(language, 'messages.connection_step_2'),
    text(language, 'messages.connection_step_3'),
    text(language, 'messages.connection_step_4'),
  ];
  return { ...link, steps };
}

type ClientPlatform = 'ios' | 'android' | 'macos' | 'windows';

interface ClientDownload {
  name: string;
  icon: string;
  link: string;
}

/** Where the client app is downloaded, for the platforms that have a link. */
export function listClientDownloads(app: App): Partial<Record<ClientPlatform, ClientDownload>> {
  const { settings } = app;
  const known: [ClientPlatform, string, string, string | null][] = [
    ['ios', 'iOS', '🍎', settings.get('HAPP_DOWNLOAD_LINK_IOS')],
    ['android', 'Android', '🤖', settings.get('HAPP_DOWNLOAD_LINK_ANDROID')],
    ['macos', 'macOS', '💻', settings.get('HAPP_DOWNLOAD_LINK_MACOS')],
    ['windows', 'Windows', '🖥', settings.get('HAPP_DOWNLOAD_LINK_WINDOWS') || settings.get('HAPP_DOWNLOAD_LINK_PC')],
  ];
  return Object.fromEntries(
    known.flatMap(([platform, name, icon, link]) => (link?.trim() ? [[platform, { name, icon, link: link.trim() }]] : [])),
  );
}
