import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { applyPercent } from '../../../core/money.ts';
import { isFull, squadVisibleTo } from '../../catalog/find-tariff.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import { runOnceFrom } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { addOnPercent } from '../../pricing/discounts.ts';
import { prorate } from '../../pricing/periods.ts';
import { invalidServers } from '../errors.ts';
import { ADD_ON, completeSale, openSale, requireBuyer } from '../purchase/complete-sale.ts';
import { insufficientFunds } from '../purchase/insufficient-funds.ts';
import type { SaleStart } from '../purchase/types.ts';
import { pricingSettingsOf } from '../settings.ts';
import { requirePaidSubscription } from './paid-guard.ts';

const subscriptionNotFound = refusal('subscription_not_found', 404, 'You have no subscription');
export const serverUnavailable = refusal('server_unavailable', 400, 'Server NL is not available');

/** The change of a subscription by the mini-app: which one, and whether a repeat is the same one. */
export interface ChangeRequest {
  subscriptionId: number | null;
  idempotencyKey: string | null;
}

export const NO_CHANGES = 'No changes';

/**
 * Replaces the servers of a subscription; each added one costs its discounted monthly price for the rest of the time, removing is free
 * (spec 02 sections 5.13 and 12.2). Servers that are not offered to the user's group stay out, connected or not.
 * @returns the text for the user
 * @throws AppError the paid guard's | 400 validation_error, invalid_servers, server_unavailable | 402 insufficient_funds | 403 restricted
 */
export async function changeMiniappServers(
  app: App,
  actor: UserActor,
  squadUuids: readonly string[],
  { subscriptionId, idempotencyKey: key }: ChangeRequest,
): Promise<string> {
  await requirePaidSubscription(app, actor, { subscriptionId, trial: true });
  const wanted = [...new Set(squadUuids.map((uuid) => uuid.trim()).filter((uuid) => uuid !== ''))];
  if (wanted.length === 0) throw noneSelected();
  return runOnceFrom(
    app,
    actor,
    { key, operation: 'subscription.servers', input: { wanted } },
    (t, claim) => openSale(t, actor.userId, { servers: 'always' }, claim),
    (t, start) => sellServers(t, start, wanted),
  );
}

async function sellServers(t: App, opened: SaleStart | null, wanted: readonly string[]): Promise<string> {
  const start = requireBuyer(opened);
  const { buyer, subscription, servers } = start;
  if (!subscription) throw subscriptionNotFound({ detail: text(buyer.language, 'errors.subscription_missing') });
  const chosen = chosenServers(servers, start, wanted);
  const chosenUuids = chosen.map((squad) => squad.squadUuid);
  const connected = new Set(subscription.connectedSquads);
  const added = chosen.filter((squad) => !connected.has(squad.squadUuid));
  if (added.length === 0 && chosenUuids.length === connected.size) return NO_CHANGES;
  const full = added.find((squad) => !squad.isAvailable || isFull(squad));
  if (full) throw serverUnavailable({ detail: `Server ${full.displayName} is not available` });

  const settings = pricingSettingsOf(t);
  const percent = addOnPercent(buyer.primaryPromoGroup, 'servers', null, settings);
  const monthly = new Map(added.map((squad) => [squad.squadUuid, applyPercent(squad.priceKopeks, percent)]));
  const sum = [...monthly.values()].reduce((total, kopeks) => total + kopeks, 0);
  const now = t.clock.now();
  await completeSale(t, start, {
    ...ADD_ON,
    order: { kind: 'servers', squadUuids: chosenUuids },
    quote: { finalKopeks: prorate(sum, subscription.endDate, now).priceKopeks, offerDiscountKopeks: 0 },
    changes: { connectedSquads: chosenUuids },
    dropsPurchases: false,
    serverPrices: Object.fromEntries(
      [...monthly].map(([uuid, kopeks]) => [uuid, prorate(kopeks, subscription.endDate, now).priceKopeks]),
    ),
    description: text(buyer.language, 'subscriptions.transaction_added_servers', {
      servers: added.map((squad) => squad.displayName).join(', '),
    }),
    refusal: (missing) => insufficientFunds(t, buyer, missing, null),
  });
  return text(buyer.language, 'subscriptions.servers_changed');
}

/** Those of the user's group, in the order of the request. @throws AppError 400 when none is left (spec 10 X24), and for an unknown server */
function chosenServers(servers: readonly ServerSquad[], { buyer }: SaleStart, wanted: readonly string[]): ServerSquad[] {
  const known = new Map(servers.map((squad) => [squad.squadUuid, squad]));
  const named = wanted.map((uuid) => known.get(uuid));
  const isOffered = (squad: ServerSquad) => squadVisibleTo(squad, buyer.primaryPromoGroup);
  const chosen = named.filter((squad) => squad !== undefined && isOffered(squad)) as ServerSquad[];
  if (chosen.length === 0 && (!named.includes(undefined) || !servers.some(isOffered))) throw noneSelected();
  if (named.includes(undefined)) throw invalidServers();
  return chosen;
}

export const noneSelected = refusal('validation_error', 400, 'At least one server must be selected');
