import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { listSquads } from '../catalog/find-squads.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { noSubscription } from './errors.ts';
import { ADD_ON, completeSale } from './purchase/complete-sale.ts';
import { insufficientFundsForServers } from './purchase/insufficient-funds.ts';
import { openSale, requireBuyer } from './purchase/open-sale.ts';
import { requireBuyerDetails } from './purchase/require-buyer-details.ts';
import type { SaleNeeds, SaleStart } from './purchase/types.ts';
import { offerServers, planServerChange } from './rules/server-choice.ts';
import { pricingSettingsOf } from './settings.ts';

/** Servers that were connected and disconnected; names, and kopeks. */
export type ChosenServers =
  | { message: 'No changes detected'; connectedSquads: string[] }
  | {
      message: 'Countries updated successfully';
      added: string[];
      removed: string[];
      amountPaidKopeks: number;
      connectedSquads: string[];
    };

/** The servers that the user may connect, with prices (spec 02 section 5.13). Never writes. @throws AppError 404 'User not found' */
export async function readServerOffer(app: App, actor: UserActor) {
  const [{ buyer, details }, squads] = await Promise.all([requireBuyerDetails(app, actor), listSquads(app)]);
  const context = { user: buyer, settings: pricingSettingsOf(app), now: app.clock.now(), squads };
  return offerServers(details?.subscription ?? null, context);
}

const NEEDS: SaleNeeds = { servers: 'always' };

/**
 * Makes the connected servers those of the list, once per idempotency key: added ones are paid from the balance for the rest of the time,
 * removing is free. The rows of servers, the charge and the request to update the panel are one transaction (spec 02 sections 5.13 and 15).
 * @param order.countries squad uuids
 * @throws AppError 403 restricted | 404 'No subscription found' | 400 (see `planServerChange`) | 402 'Insufficient balance. Need …'
 */
export function chooseServers(
  app: App,
  actor: UserActor,
  order: { countries: readonly string[]; idempotencyKey: string | null },
): Promise<ChosenServers> {
  const { idempotencyKey, ...input } = order;
  return runOnceFrom<SaleStart | null, ChosenServers>(
    app,
    actor,
    { key: idempotencyKey, operation: 'subscription.servers', input },
    (t, claim) => openSale(t, actor.userId, NEEDS, claim),
    (t, start) => sellServers(t, start, input.countries),
  );
}

async function sellServers(t: App, opened: SaleStart | null, countries: readonly string[]): Promise<ChosenServers> {
  const start = requireBuyer(opened);
  const { buyer, subscription, servers: squads } = start;
  if (!subscription) throw noSubscription();
  const context = { user: buyer, settings: pricingSettingsOf(t), now: t.clock.now(), squads };
  const { connectedSquads, pricesKopeks, totalKopeks, added, removed, isUnchanged } = planServerChange(
    subscription,
    countries,
    context,
  );
  if (isUnchanged) return { message: 'No changes detected', connectedSquads };
  await completeSale(t, start, {
    ...ADD_ON,
    order: { kind: 'servers', squadUuids: connectedSquads },
    quote: { finalKopeks: totalKopeks, offerDiscountKopeks: 0 },
    changes: { connectedSquads },
    serverPrices: pricesKopeks,
    dropsPurchases: false,
    description: text(buyer.language, 'subscriptions.transaction_servers', { servers: added.join(', ') }),
    refusal: () => insufficientFundsForServers(totalKopeks, buyer.balanceKopeks),
  });
  return { message: 'Countries updated successfully', added, removed, amountPaidKopeks: totalKopeks, connectedSquads };
}
