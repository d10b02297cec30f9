import type { z } from 'zod';
import type { UserActor } from '../../core/actor.ts';
import { isAppError, refuse } from '../../core/errors.ts';
import { authenticateUser } from '../../domain/identity/authenticate-user.ts';
import { type ShownLanding, showLanding } from '../../domain/storefront/landings/show-landing.ts';
import { activateByToken } from '../../domain/storefront/purchases/activate-purchase.ts';
import { readContact } from '../../domain/storefront/purchases/rules.ts';
import { startPurchase } from '../../domain/storefront/purchases/start-purchase.ts';
import type { Contact } from '../../domain/storefront/purchases/types.ts';
import { type PurchaseView, viewPurchase } from '../../domain/storefront/purchases/view-purchase.ts';
import type { Context } from '../context.ts';
import { publicProcedure, router } from '../trpc.ts';
import {
  LandingConfigResponse,
  LandingPageQuery,
  LandingPurchaseRequest,
  PurchaseResponse,
  PurchaseStatusResponse,
  PurchaseTokenPath,
} from './landing.schemas.ts';
import { limitByAddress } from './limited-procedure.ts';

const tags: [string] = ['Landing Pages'];

/**
 * Counts a knock by client address; a counter that cannot count refuses (spec 03 section 7.2).
 * @throws AppError 429 | 400 'Unable to determine client IP'
 */
async function limitGuests(ctx: Context, action: string, limit: number, message = 'Too many requests'): Promise<void> {
  try {
    await limitByAddress(ctx, `landing/${action}`, limit);
  } catch (error) {
    if (isAppError(error) && error.status === 400) throw error;
    throw refuse('rate_limited', 429, message, { headers: { 'Retry-After': '60' }, cause: error });
  }
}

function toConfig(page: ShownLanding) {
  return {
    slug: page.slug,
    title: page.title,
    subtitle: page.subtitle,
    features: page.features,
    footer_text: page.footerText,
    tariffs: page.tariffs.map(({ tariff, periods }) => ({
      id: tariff.id,
      name: tariff.name,
      description: tariff.description,
      traffic_limit_gb: tariff.trafficLimitGb,
      device_limit: tariff.deviceLimit,
      tier_level: tariff.tierLevel,
      periods: periods.map((period) => ({
        days: period.days,
        label: period.label,
        price_kopeks: period.priceKopeks,
        price_label: period.priceLabel,
        original_price_kopeks: period.originalPriceKopeks,
        original_price_label: period.originalPriceLabel,
        discount_percent: period.discountPercent,
      })),
    })),
    payment_methods: page.methods.map(({ method, options }) => ({
      method_id: method.method_id,
      display_name: method.display_name,
      description: method.description,
      icon_url: method.icon_url,
      sort_order: method.sort_order,
      min_amount_kopeks: method.min_amount_kopeks,
      max_amount_kopeks: method.max_amount_kopeks,
      currency: method.currency,
      sub_options: options,
    })),
    gift_enabled: page.giftEnabled,
    custom_css: page.customCss,
    meta_title: page.metaTitle,
    meta_description: page.metaDescription,
    discount: page.discount && {
      percent: page.discount.percent,
      ends_at: page.discount.endsAt.toISOString(),
      badge_text: page.discount.badgeText,
    },
    background_config: page.background && { ...page.background },
  };
}

function toStatus(view: PurchaseView) {
  return {
    status: view.status,
    subscription_url: view.subscriptionUrl,
    subscription_crypto_link: view.subscriptionCryptoLink,
    is_gift: view.isGift,
    contact_value: view.contactValue,
    recipient_contact_value: view.recipientContactValue,
    period_days: view.periodDays,
    tariff_name: view.tariffName,
    gift_message: view.giftMessage,
    contact_type: view.contactType,
    cabinet_email: view.cabinetEmail,
    cabinet_password: view.cabinetPassword,
    auto_login_token: view.autoLoginToken,
    recipient_in_bot: view.isRecipientInBot,
    bot_link: view.botLink,
  };
}

/** The schema has accepted both, so that they read. */
function contactOf(type: string | null | undefined, value: string | null | undefined): Contact | null {
  return type && value ? readContact(type as Contact['type'], value) : null;
}

function toOrder(input: z.output<typeof LandingPurchaseRequest>) {
  return {
    slug: input.slug,
    tariffId: input.tariff_id,
    periodDays: input.period_days,
    buyer: contactOf(input.contact_type, input.contact_value)!,
    paymentMethod: input.payment_method,
    isGift: input.is_gift,
    recipient: contactOf(input.gift_recipient_type, input.gift_recipient_value),
    giftMessage: input.gift_message?.trim() || null,
  };
}

/** Who is signed in, if anybody: the door is open to all, and whether a signature is needed is the use case's question. */
async function signedIn({ app, credentials }: Context): Promise<UserActor | null> {
  if (credentials.bearer === null) return null;
  try {
    return await authenticateUser(app, credentials);
  } catch (error) {
    if (isAppError(error) && error.status < 500) return null;
    throw error;
  }
}

/** Sales pages: nobody is signed in, so everything is counted by client address. */
export const landingRouter = router({
  get: publicProcedure('web')
    .meta({ openapi: { method: 'GET', path: '/cabinet/landing/{slug}', tags, summary: 'A sales page' } })
    .input(LandingPageQuery)
    .output(LandingConfigResponse)
    .query(async ({ ctx, input }) => {
      await limitGuests(ctx, 'page', 60);
      return toConfig(await showLanding(ctx.app, input.slug, input.lang));
    }),

  purchase: publicProcedure('web')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/landing/{slug}/purchase', tags, summary: 'Buy a tariff without an account' },
      idempotent: true,
    })
    .input(LandingPurchaseRequest)
    .output(PurchaseResponse)
    .mutation(async ({ ctx, input }) => {
      await limitGuests(ctx, 'purchase', 30, 'Too many purchase attempts, please try again later');
      const started = await startPurchase(ctx.app, toOrder(input), { ip: ctx.ip, idempotencyKey: ctx.idempotencyKey });
      return { purchase_token: started.token, payment_url: started.paymentUrl };
    }),

  status: publicProcedure('web')
    .meta({ openapi: { method: 'GET', path: '/cabinet/landing/purchase/{token}', tags, summary: 'What became of a purchase' } })
    .input(PurchaseTokenPath)
    .output(PurchaseStatusResponse)
    .query(async ({ ctx, input }) => {
      await limitGuests(ctx, 'status', 30);
      return toStatus(await viewPurchase(ctx.app, input.token));
    }),

  activate: publicProcedure('web')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/landing/activate/{token}',
        tags,
        summary: 'Start a purchase that waits for its recipient',
        description:
          'Where a running subscription would be replaced, the recipient must be signed in (`Authorization: Bearer`): 401 without, 403 for anybody else.',
      },
    })
    .input(PurchaseTokenPath)
    .output(PurchaseStatusResponse)
    .mutation(async ({ ctx, input }) => {
      await limitGuests(ctx, 'activate', 5);
      await activateByToken(ctx.app, input.token, await signedIn(ctx));
      return toStatus(await viewPurchase(ctx.app, input.token));
    }),
});
