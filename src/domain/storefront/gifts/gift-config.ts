import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { listAvailableSquads } from '../../catalog/find-squads.ts';
import { listActiveTariffs } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import { requireUser } from '../../identity/find-user.ts';
import type { OfferedMethod } from '../../payments/types.ts';
import { offerPercent } from '../../pricing/discounts.ts';
import { periodKeys } from '../../pricing/periods.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import { readActiveDiscount, readMyGroup } from '../../promo/offers/offers.ts';
import { quoteSigner } from '../../subscriptions/purchase/signed-quote.ts';
import { pricingSettingsOf } from '../../subscriptions/settings.ts';
import { purchaseNotFound } from '../purchases/errors.ts';
import { findByCode, readSurroundings } from '../purchases/repo.ts';
import { isCode, isCodeOnly } from '../purchases/rules.ts';
import { listGiftMethods } from './buy-gift.ts';
import { isGiftEnabled } from './is-gift-enabled.ts';
import { quotedGift } from './price-gift.ts';
import { listBought, listReceived, listWaiting } from './repo.ts';
import { giftPrice, readGiftCode } from './rules.ts';

/** A period as a gift; kopeks. The last two are set only where discounts lower the price. */
interface GiftPeriod {
  days: number;
  priceKopeks: number;
  priceLabel: string;
  originalPriceKopeks: number | null;
  discountPercent: number | null;
  /** Signed; see `requireQuoted`. */
  quote: string;
}

type GiftTariff = Pick<Tariff, 'id' | 'name' | 'description' | 'trafficLimitGb' | 'deviceLimit'> & {
  periods: GiftPeriod[];
};

/** What a user can give, and how it can be paid. */
export interface GiftConfig {
  isEnabled: boolean;
  tariffs: GiftTariff[];
  methods: OfferedMethod[];
  balanceKopeks: number;
  promoGroupName: string | null;
  /** Of the personal offer; null without a live one. */
  activeDiscountPercent: number | null;
  activeDiscountExpiresAt: Date | null;
}

/** The page on which a user buys a gift (spec 03 section 9); while gifts are switched off, the balance alone. */
export async function readGiftConfig(app: App, actor: UserActor): Promise<GiftConfig> {
  const [{ balanceKopeks }, isEnabled] = await Promise.all([requireUser(app, actor.userId), isGiftEnabled(app)]);
  if (!isEnabled) {
    const none = { promoGroupName: null, activeDiscountPercent: null, activeDiscountExpiresAt: null };
    return { isEnabled, tariffs: [], methods: [], balanceKopeks, ...none };
  }
  const [group, discount, tariffs, methods] = await Promise.all([
    readMyGroup(app, actor),
    readActiveDiscount(app, actor),
    listGivenTariffs(app),
    listGiftMethods(app, actor.userId),
  ]);
  const now = app.clock.now();
  const user: PricedUser = {
    promoOfferDiscountPercent: discount.percent,
    promoOfferDiscountExpiresAt: discount.expiresAt,
    primaryPromoGroup: group,
  };
  const buyer = { user, settings: pricingSettingsOf(app), now };
  const percent = offerPercent(user, now);
  const sign = await quoteSigner(app);
  const signed = (tariff: Tariff, days: number, priceKopeks: number) =>
    sign({ ...quotedGift(tariff, days), userId: actor.userId, priceKopeks });
  return {
    isEnabled,
    tariffs: tariffs
      .map((tariff) => ({ ...tariff, periods: periodsOf(tariff, buyer, signed) }))
      .filter(({ periods }) => periods.length > 0),
    methods,
    balanceKopeks,
    promoGroupName: group?.name ?? null,
    activeDiscountPercent: percent > 0 ? percent : null,
    activeDiscountExpiresAt: percent > 0 ? discount.expiresAt : null,
  };
}

/** Active tariffs that may be given; one that would give no server is left out (08 P5). */
async function listGivenTariffs(app: App): Promise<Tariff[]> {
  const tariffs = (await listActiveTariffs(app)).filter(({ showInGift }) => showInGift);
  const isOpenEmpty =
    tariffs.some(({ allowedSquads }) => allowedSquads.length === 0) && (await listAvailableSquads(app)).length === 0;
  return isOpenEmpty ? tariffs.filter(({ allowedSquads }) => allowedSquads.length > 0) : tariffs;
}

function periodsOf(
  tariff: Tariff,
  buyer: { user: PricedUser; settings: PricingSettings; now: Date },
  signed: (tariff: Tariff, days: number, priceKopeks: number) => string,
): GiftPeriod[] {
  return periodKeys(tariff.periodPrices).flatMap((days): GiftPeriod[] => {
    const price = giftPrice(tariff, days, buyer);
    if (!price) return [];
    const { kopeks: priceKopeks, originalKopeks } = price;
    const percent = Math.floor(((originalKopeks - priceKopeks) * 100) / originalKopeks);
    const isReduced = percent > 0;
    return [
      {
        days,
        priceKopeks,
        priceLabel: formatPrice(priceKopeks, buyer.settings.priceRoundingEnabled),
        originalPriceKopeks: isReduced ? originalKopeks : null,
        discountPercent: isReduced ? percent : null,
        quote: signed(tariff, days, priceKopeks),
      },
    ];
  });
}

// Lists of gifts, newest first, at most 100. Each is one statement over an index of the user.

/** Gifts that wait for the consent of the user. The sender is named as the buyer's contact. */
export async function listPendingGifts(app: App, actor: UserActor) {
  const rows = await listWaiting(app.db, actor.userId);
  return rows.map(({ contactValue, ...gift }) => ({ ...gift, sender: contactValue }));
}

/** Gifts that the user bought. */
export async function listSentGifts(app: App, actor: UserActor) {
  const rows = await listBought(app.db, actor.userId);
  return rows.map(({ activatedBy, deviceLimit, ...gift }) => ({
    ...gift,
    deviceLimit: deviceLimit ?? 1,
    activatedBy: activatedBy && `@${activatedBy}`,
  }));
}

/** Gifts that the user was given, in any state. */
export async function listReceivedGifts(app: App, actor: UserActor) {
  const rows = await listReceived(app.db, actor.userId);
  return rows.map(({ buyerUsername, contactValue, deviceLimit, ...gift }) => ({
    ...gift,
    deviceLimit: deviceLimit ?? 1,
    sender: buyerUsername === null ? contactValue : `@${buyerUsername}`,
  }));
}

/**
 * The state of a gift that the user bought.
 * @param entered the token, or at least its first 12 characters, with or without `GIFT-` (spec 10 U1)
 * @throws AppError 404 'Purchase not found', also for the gift of another user
 */
export async function readSentGift(app: App, actor: UserActor, entered: string) {
  const code = readGiftCode(entered);
  const gift = isCode(code) ? await findByCode(app.db, code) : null;
  if (!gift?.isGift || gift.buyerUserId !== actor.userId) throw purchaseNotFound();
  const { tariffName } = await readSurroundings(app.db, gift.id);
  const { status, giftMessage, order, recipientWarning, recipient } = gift;
  const isOnlyCode = isCodeOnly(gift);
  return {
    ...{ status, giftMessage, periodDays: order.periodDays, recipientWarning, tariffName },
    isCodeOnly: isOnlyCode,
    code: isOnlyCode ? gift.code : null,
    recipient: recipient?.value ?? null,
  };
}
