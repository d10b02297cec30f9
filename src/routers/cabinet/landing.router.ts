import type { z } from 'zod';
import type { UserActor } from '../../core/actor.ts';
import { isAppError, refusal } from '../../core/errors.ts';
import { authenticateUser } from '../../domain/identity/authenticate.ts';
import { landingNotFound } from '../../domain/storefront/landings/landings.ts';
import { type ShownLanding, showLanding } from '../../domain/storefront/landings/show-landing.ts';
import { activateByToken } from '../../domain/storefront/purchases/activate-purchase.ts';
import {
  notPendingActivation,
  notTheRecipient,
  providerUnavailable,
  purchaseNotFound,
  signInToActivate,
  tariffWithoutServers,
} from '../../domain/storefront/purchases/errors.ts';
import { readContact } from '../../domain/storefront/purchases/rules.ts';
import {
  type PurchaseOrder,
  type PurchaseView,
  startPurchase,
  viewPurchase,
} from '../../domain/storefront/purchases/start-purchase.ts';
import type { Contact } from '../../domain/storefront/purchases/types.ts';
import type { Context } from '../context.ts';
import { publicProcedure, router } from '../trpc.ts';
import { type Domain, fromWire, toWire } from '../wire.ts';
import {
  LandingConfigResponse,
  LandingPageQuery,
  LandingPurchaseRequest,
  PurchaseResponse,
  PurchaseStatusResponse,
  PurchaseTokenPath,
} from './landing.schemas.ts';
import { limitByAddress } from './limited-procedure.ts';

const rateLimited = refusal('rate_limited', 429, 'Too many requests');

const tags: [string] = ['Landing Pages'];

/**
 * Limits attempts by client address. Without an address or a working counter the request is refused (spec 03 section 7.2).
 * @throws AppError 429 | 400 'Unable to determine client IP'
 */
async function limitGuests(ctx: Context, action: string, limit: number, message = 'Too many requests'): Promise<void> {
  try {
    await limitByAddress(ctx, `landing/${action}`, limit);
  } catch (error) {
    if (isAppError(error) && error.status === 400) throw error;
    throw rateLimited({ detail: message, headers: { 'Retry-After': '60' }, cause: error });
  }
}

function toConfig({ discount, ...page }: ShownLanding) {
  return { ...page, discount: discount && { ...discount, endsAt: discount.endsAt.toISOString() } };
}

const toStatus = (view: PurchaseView) => ({ ...view, recipientInBot: view.isRecipientInBot });

/** The schema has checked both. */
function contactOf(type: string | null | undefined, value: string | null | undefined): Contact | null {
  return type && value ? readContact(type as Contact['type'], value) : null;
}

function toOrder(input: Domain<z.output<typeof LandingPurchaseRequest>>): PurchaseOrder {
  const { contactType, contactValue, giftRecipientType, giftRecipientValue, giftMessage, ...order } = input;
  return {
    ...order,
    buyer: contactOf(contactType, contactValue)!,
    recipient: contactOf(giftRecipientType, giftRecipientValue),
    giftMessage: giftMessage?.trim() || null,
  };
}

/** The signed-in user; null without a valid token, because the operation is public and the use case decides who must be signed in. */
async function signedIn({ app, credentials }: Context): Promise<UserActor | null> {
  if (credentials.bearer === null) return null;
  try {
    return await authenticateUser(app, credentials);
  } catch (error) {
    if (isAppError(error) && error.status < 500) return null;
    throw error;
  }
}

/** Sales pages: callers have no account, so attempts are limited by client address. */
export const landingRouter = router({
  get: publicProcedure('web', true)
    .meta({
      openapi: { method: 'GET', path: '/cabinet/landing/{slug}', tags, summary: 'A sales page' },
      description: 'Returns a sales page with tariffs, prices and payment methods, in the requested language.',
      refuses: [landingNotFound, rateLimited],
    })
    .input(LandingPageQuery)
    .output(toWire(LandingConfigResponse))
    .query(async ({ ctx, input }) => {
      await limitGuests(ctx, 'page', 60);
      return toConfig(await showLanding(ctx.app, input.slug, input.lang));
    }),

  purchase: publicProcedure('web', true)
    .meta({
      openapi: { method: 'POST', path: '/cabinet/landing/{slug}/purchase', tags, summary: 'Buy a tariff without an account' },
      description:
        'Begins a purchase without an account, for the buyer or as a gift, and returns the address where it is paid and the token of the purchase. It is delivered when the provider reports the payment. Accepts `Idempotency-Key`.',
      refuses: [tariffWithoutServers, landingNotFound, rateLimited, providerUnavailable],
      idempotent: true,
    })
    .input(fromWire(LandingPurchaseRequest))
    .output(toWire(PurchaseResponse))
    .mutation(async ({ ctx, input }) => {
      await limitGuests(ctx, 'purchase', 30, 'Too many purchase attempts, please try again later');
      const started = await startPurchase(ctx.app, toOrder(input), {
        ip: ctx.ip,
        language: ctx.language,
        idempotencyKey: ctx.idempotencyKey,
      });
      return { purchaseToken: started.token, paymentUrl: started.paymentUrl };
    }),

  status: publicProcedure('web', true)
    .meta({
      openapi: { method: 'GET', path: '/cabinet/landing/purchase/{token}', tags, summary: 'State of a purchase' },
      description:
        'Returns the state of a purchase. Contacts are masked. Links, password and sign-in token of a new account are shown for a limited time.',
      refuses: [purchaseNotFound, rateLimited],
    })
    .input(PurchaseTokenPath)
    .output(toWire(PurchaseStatusResponse))
    .query(async ({ ctx, input }) => {
      await limitGuests(ctx, 'status', 30);
      return toStatus(await viewPurchase(ctx.app, input.token));
    }),

  activate: publicProcedure('web', true)
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/landing/activate/{token}',
        tags,
        summary: 'Start a purchase that waits for its recipient',
      },
      description:
        'Where a running subscription would be replaced, the recipient must agree: with the token of a purchase for oneself, with the token from the own notice of a gift, or signed in (`Authorization: Bearer`). The token of the giver alone is refused: 401 without a sign-in, 403 for anybody else.',
      refuses: [notPendingActivation, signInToActivate, notTheRecipient, purchaseNotFound, rateLimited],
    })
    .input(PurchaseTokenPath)
    .output(toWire(PurchaseStatusResponse))
    .mutation(async ({ ctx, input }) => {
      await limitGuests(ctx, 'activate', 5);
      await activateByToken(ctx.app, input.token, await signedIn(ctx));
      return toStatus(await viewPurchase(ctx.app, input.token));
    }),
});
