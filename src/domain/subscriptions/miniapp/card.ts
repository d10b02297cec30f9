import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import { effectiveSquads, findTariff } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import { requireUser } from '../../identity/find-user.ts';
import type { UserRecord } from '../../identity/types.ts';
import type { PanelDevice, PanelSubscriptionInfo } from '../../provisioning/panel-objects.ts';
import type { PanelUser } from '../../provisioning/ports.ts';
import { requireBuyerDetails } from '../purchase/insufficient-funds.ts';
import type { Buyer } from '../purchase/types.ts';
import { storeUsedTraffic } from '../repo.ts';
import { type ConnectionLink, connectionLink } from '../rules/connection-link.ts';
import { actualStatus } from '../rules/status.ts';
import { livePurchases, purchaseProgress } from '../rules/traffic-purchases.ts';
import { trialPrice, trialRefusal } from '../rules/trial.ts';
import { dailyPrice } from '../rules/view.ts';
import { pricingSettingsOf, subscriptionSettingsOf } from '../settings.ts';
import type { Subscription, SubscriptionDetails, SubscriptionStatus, TrafficPurchase } from '../types.ts';
import { type CurrentTariff, describeCurrentTariff } from './tariffs.ts';

/** A smaller difference of used traffic is not stored, GB. */
const USED_STEP_GB = 0.01;

/** The subscription of a mini-app user with what the first page shows beside it (spec 02 section 12.3); kopeks, GB. */
export interface MiniappCard {
  user: UserRecord;
  buyer: Buyer;
  subscription: Subscription | null;
  /** As it is now; null without a subscription. */
  status: SubscriptionStatus | null;
  trafficUsedGb: number;
  lifetimeUsedGb: number;
  tariff: Tariff | null;
  currentTariff: CurrentTariff | null;
  /** Of a daily tariff with a price; the offer is taken off. */
  dailyPriceKopeks: number | null;
  purchases: (TrafficPurchase & ReturnType<typeof purchaseProgress>)[];
  links: { subscriptionUrl: string | null; cryptoLink: string | null; connection: ConnectionLink | null };
  panel: PanelFacts;
  servers: { uuid: string; name: string }[];
  trial: {
    isAvailable: boolean;
    durationDays: number;
    /** 0 unless paid trials are on. */
    priceKopeks: number;
  };
}

/**
 * Reads everything that concerns the subscription. The used traffic is refreshed from the panel; a panel that does not answer leaves the
 * stored values. @throws AppError 404
 */
export async function readMiniappCard(app: App, actor: UserActor): Promise<MiniappCard> {
  const [user, { buyer, details }] = await Promise.all([requireUser(app, actor.userId), requireBuyerDetails(app, actor)]);
  const now = app.clock.now();
  const subscription = details?.subscription ?? null;
  const panel = subscription ? await readPanelFacts(app, user.vpnpanelUuid, subscription.vpnpanelShortUuid) : NO_PANEL_FACTS;
  const tariff = subscription?.tariffId == null ? null : await findTariff(app, subscription.tariffId);
  const pricing = pricingSettingsOf(app);
  return {
    user,
    buyer,
    subscription,
    status: subscription && actualStatus(subscription, now),
    trafficUsedGb: subscription ? await refreshUsed(app, subscription, panel, now) : 0,
    lifetimeUsedGb: panel.user ? gigabytesOf(panel.user.lifetimeUsedTrafficBytes) : 0,
    tariff,
    currentTariff: subscription && tariff && (await currentTariff(app, buyer, subscription, tariff)),
    dailyPriceKopeks: tariff && dailyPrice(tariff, buyer, pricing, now),
    purchases: livePurchases(details?.purchases ?? [], now).map((one) => ({ ...one, ...purchaseProgress(one, now) })),
    links: linksOf(app, subscription, panel),
    panel,
    servers: details ? serversOf(details, panel) : [],
    trial: trialOf(app, buyer, subscription),
  };
}

async function currentTariff(app: App, user: Buyer, subscription: Subscription, tariff: Tariff): Promise<CurrentTariff> {
  const serversCount = effectiveSquads(tariff, await listSquads(app)).length;
  const context = { user, settings: pricingSettingsOf(app), now: app.clock.now() };
  return describeCurrentTariff({ subscription, tariff, serversCount }, context);
}

async function refreshUsed(app: App, subscription: Subscription, panel: PanelFacts, readAt: Date): Promise<number> {
  const { trafficUsedGb: before } = subscription;
  if (!panel.user) return before;
  const after = gigabytesOf(panel.user.usedTrafficBytes);
  if (Math.abs(after - before) <= USED_STEP_GB) return before;
  await storeUsedTraffic(app.db, subscription.id, { before, after, readAt }, app.clock.now());
  return after;
}

function linksOf(app: App, subscription: Subscription | null, panel: PanelFacts): MiniappCard['links'] {
  const subscriptionUrl = panel.user?.subscriptionUrl || panel.info?.subscriptionUrl || subscription?.subscriptionUrl || null;
  const cryptoLink = panel.user?.cryptoLink || subscription?.subscriptionCryptoLink || null;
  const connection = connectionLink(
    { subscriptionUrl, subscriptionCryptoLink: cryptoLink },
    {
      connectMode: app.settings.get('CONNECT_BUTTON_MODE'),
      hideSubscriptionLink: app.settings.get('HIDE_SUBSCRIPTION_LINK'),
      redirectTemplate: app.settings.get('HAPP_CRYPTOLINK_REDIRECT_TEMPLATE'),
    },
  );
  return { subscriptionUrl, cryptoLink, connection };
}

/** Named as here, else as the panel names the squad, else by the uuid; in the order of the subscription. */
function serversOf({ subscription, servers }: SubscriptionDetails, panel: PanelFacts): MiniappCard['servers'] {
  const names = new Map([
    ...(panel.user?.squads ?? []).map((squad) => [squad.uuid, squad.name] as const),
    ...servers.map((squad) => [squad.squadUuid, squad.displayName] as const),
  ]);
  return subscription.connectedSquads.map((uuid) => ({ uuid, name: names.get(uuid) ?? uuid }));
}

function trialOf(app: App, buyer: Buyer, subscription: Subscription | null): MiniappCard['trial'] {
  const settings = subscriptionSettingsOf(app);
  return {
    isAvailable: trialRefusal({ ...buyer, subscription }, settings, app.clock.now()) === null,
    durationDays: settings.trialDurationDays,
    priceKopeks: trialPrice(settings),
  };
}

const BYTES_PER_GB = 1024 ** 3;

/** What the panel says of a user; null and empty where it did not answer. */
interface PanelFacts {
  user: PanelUser | null;
  info: PanelSubscriptionInfo | null;
  devices: PanelDevice[];
}

const NO_PANEL_FACTS: PanelFacts = { user: null, info: null, devices: [] };

/** Asks the panel, all calls at once and outside of any transaction. A call that fails leaves its part out. */
async function readPanelFacts(app: App, panelUuid: string | null, shortUuid: string | null): Promise<PanelFacts> {
  const { panel } = app.ports;
  if (panel.configurationError() !== null) return NO_PANEL_FACTS;
  const orElse = async <T>(call: Promise<T> | null, fallback: T): Promise<T> => {
    try {
      return call === null ? fallback : await call;
    } catch (error) {
      app.log.warn({ err: error }, 'the panel did not answer a mini-app');
      return fallback;
    }
  };
  const [user, info, devices] = await Promise.all([
    orElse(panelUuid === null ? null : panel.findByUuid(panelUuid), null),
    orElse(shortUuid === null ? null : panel.getSubscriptionInfo(shortUuid), null),
    orElse(panelUuid === null ? null : panel.listDevices(panelUuid), []),
  ]);
  return { user, info, devices };
}

/** Bytes of the panel as GB (base 1024). */
const gigabytesOf = (bytes: number): number => bytes / BYTES_PER_GB;
