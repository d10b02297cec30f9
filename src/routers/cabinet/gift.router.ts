import type { z } from 'zod';
import { tooManyRequests } from '../../core/rate-limit.ts';
import { idempotencyKeyInUse } from '../../domain/ledger/run-once.ts';
import { aboveMaximum, belowMinimum, methodNotOffered } from '../../domain/payments/errors.ts';
import { activateGift } from '../../domain/storefront/gifts/activate-gift.ts';
import { buyGift, subscriptionRestricted } from '../../domain/storefront/gifts/buy-gift.ts';
import {
  codeTooShort,
  giftNotFound,
  giftOfBuyer,
  giftsDisabled,
  giftTariffNotFound,
  giftToSelf,
  insufficientBalance,
  invalidEmail,
  invalidUsername,
  notClaimable,
  tooManyFailures,
} from '../../domain/storefront/gifts/errors.ts';
import {
  type GiftConfig,
  listPendingGifts,
  listReceivedGifts,
  listSentGifts,
  readGiftConfig,
  readSentGift,
} from '../../domain/storefront/gifts/gift-config.ts';
import type { GiftOrder } from '../../domain/storefront/gifts/types.ts';
import {
  priceMissing,
  providerAnswerInvalid,
  providerUnavailable,
  purchaseNotFound,
  tariffWithoutServers,
} from '../../domain/storefront/purchases/errors.ts';
import type { ContactType } from '../../domain/storefront/purchases/types.ts';
import { quoteChanged } from '../../domain/subscriptions/purchase/signed-quote.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { type Domain, fromWire, toWire } from '../wire.ts';
import {
  ActivateGiftRequest,
  ActivateGiftResponse,
  GiftConfigResponse,
  GiftPurchaseRequest,
  GiftPurchaseResponse,
  GiftPurchaseStatusResponse,
  GiftTokenPath,
  PendingGiftResponse,
  ReceivedGiftResponse,
  SentGiftResponse,
} from './gift.schemas.ts';

const tags: [string] = ['Cabinet Gift'];

const toConfig = ({ methods, ...config }: GiftConfig) => ({
  ...config,
  paymentMethods: methods.map(({ id, name, options, ...limits }) => ({
    methodId: id,
    displayName: name,
    description: null,
    iconUrl: null,
    ...limits,
    subOptions: options,
  })),
});

/** The schema has checked that both or none of the recipient's fields are given. */
function toOrder(input: Domain<z.output<typeof GiftPurchaseRequest>>): GiftOrder {
  const { tariffId, periodDays, recipientType: type, recipientValue: value, giftMessage, paymentMode, paymentMethod } = input;
  return {
    tariffId,
    periodDays,
    recipient: type && value ? { type: type as ContactType, value } : null,
    giftMessage: giftMessage?.trim() || null,
    paymentMethod: paymentMode === 'gateway' ? paymentMethod! : null,
  };
}

/** Subscriptions that users buy for others. */
export const giftRouter = router({
  config: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/gift/config', tags, summary: 'What can be given, and how it is paid' },
      description:
        'Returns the tariffs that can be given with the prices for this user, discounts applied, and the payment methods. While gifts are switched off, only the balance.',
    })
    .output(toWire(GiftConfigResponse))
    .query(async ({ ctx }) => toConfig(await readGiftConfig(ctx.app, ctx.actor))),

  purchase: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/gift/purchase', tags, summary: 'Buy a gift' },
      description:
        'Buys a gift: from the balance, where the debit and the gift are one transaction, or by an invoice at a provider, which is paid at `payment_url`. With a recipient it is given when it is paid, and the recipient is notified; without one it is a code for whoever activates it. A personal discount is used up by the payment. At most 5 a minute. Accepts `Idempotency-Key`.',
      refuses: [
        invalidEmail,
        giftToSelf,
        invalidUsername,
        giftsDisabled,
        insufficientBalance,
        tariffWithoutServers,
        methodNotOffered,
        priceMissing,
        subscriptionRestricted,
        giftTariffNotFound,
        belowMinimum,
        aboveMaximum,
        quoteChanged,
        idempotencyKeyInUse,
        tooManyRequests,
        providerUnavailable,
        providerAnswerInvalid,
      ],
      idempotent: true,
    })
    .input(fromWire(GiftPurchaseRequest))
    .output(toWire(GiftPurchaseResponse))
    .mutation(async ({ ctx, input }) => {
      const { code, ...bought } = await buyGift(ctx.app, ctx.actor, toOrder(input), ctx, input.quote ?? null);
      return { ...bought, purchaseToken: code };
    }),

  pending: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/gift/pending', tags, summary: 'Own gifts that wait to be activated' },
      description:
        'Lists the gifts that wait for the own consent because there is a subscription that they would replace, newest first, at most 100.',
    })
    .output(toWire(PendingGiftResponse.array()))
    .query(async ({ ctx }) => {
      const gifts = await listPendingGifts(ctx.app, ctx.actor);
      return gifts.map(({ code, sender, ...gift }) => ({ ...gift, token: code, senderDisplay: sender }));
    }),

  status: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/gift/purchase/{token}', tags, summary: 'State of a gift that was bought' },
      description: 'Returns the state of one gift that the user bought.',
      refuses: [purchaseNotFound],
    })
    .input(GiftTokenPath)
    .output(toWire(GiftPurchaseStatusResponse))
    .query(async ({ ctx, input }) => {
      const { code, recipient, recipientWarning, ...gift } = await readSentGift(ctx.app, ctx.actor, input.token);
      return { ...gift, isGift: true, purchaseToken: code, recipientContactValue: recipient, warning: recipientWarning };
    }),

  sent: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/gift/sent', tags, summary: 'Gifts that the user bought' },
      description: 'Lists the gifts that the user bought, newest first, at most 100.',
    })
    .output(toWire(SentGiftResponse.array()))
    .query(async ({ ctx }) => {
      const gifts = await listSentGifts(ctx.app, ctx.actor);
      return gifts.map(({ code, activatedBy, ...gift }) => ({ ...gift, token: code, activatedByUsername: activatedBy }));
    }),

  received: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/gift/received', tags, summary: 'Gifts that the user was given' },
      description: 'Lists the gifts that the user was given, in any state, newest first, at most 100.',
    })
    .output(toWire(ReceivedGiftResponse.array()))
    .query(async ({ ctx }) => {
      const gifts = await listReceivedGifts(ctx.app, ctx.actor);
      return gifts.map(({ code, sender, ...gift }) => ({ ...gift, token: code, senderDisplay: sender }));
    }),

  activate: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/gift/activate', tags, summary: 'Activate a gift by its code' },
      description:
        'Activates a gift by its code. An own subscription is replaced entirely. A gift for a named recipient can be activated by that recipient only, one without a recipient by the first who enters the code. Repeating it changes nothing. The panel is updated afterwards; the answer waits for it a moment. At most 10 a minute; unknown codes are limited further by user and address. Accepts `Idempotency-Key`.',
      refuses: [codeTooShort, notClaimable, giftOfBuyer, giftNotFound, idempotencyKeyInUse, tooManyFailures],
      idempotent: true,
    })
    .input(fromWire(ActivateGiftRequest))
    .output(toWire(ActivateGiftResponse))
    .mutation(async ({ ctx, input }) => {
      const { tariffName, periodDays } = await activateGift(ctx.app, ctx.actor, input, ctx);
      return { status: 'activated', tariffName, periodDays };
    }),
});
