import { z } from 'zod';
import type { UserActor } from '../../core/actor.ts';
import { isAppError, refusal } from '../../core/errors.ts';
import { authenticateUser } from '../../domain/identity/authenticate.ts';
import { landingNotFound } from '../../domain/storefront/landings/landings.ts';
import { type ShownLanding, showLanding } from '../../domain/storefront/landings/show-landing.ts';
import { activateByToken } from '../../domain/storefront/purchases/activate-purchase.ts';
import {
  LANDING_PURCHASE_REFUSES,
  notPendingActivation,
  notTheRecipient,
  purchaseNotFound,
  signInToActivate,
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
import { type Domain, fromWire, toWire, withBody } from '../wire.ts';
import { limitByAddress } from './limited-procedure.ts';

/** Contract group `Landing Pages`. */

const LandingPageQuery = z.object({
  slug: z.string().max(100).describe('Last part of the address of the sales page.'),
  lang: z.string().max(5).default('ru').describe('Language of the texts; another one is used where there is no text in it.'),
});

const LandingConfigResponse = z
  .object({
    slug: z.string().describe('Last part of the address of the page: `a-z`, `0-9` and `-`, unique.'),
    title: z.string().describe('Title in the requested language.'),
    subtitle: z.string().nullish().describe('Subtitle in the requested language; null for none.'),
    features: z
      .object({
        icon: z.string().default('').describe('Emoji or icon name; empty when there is none.'),
        title: z.string().default('').describe('Title of the selling point.'),
        description: z.string().default('').describe('Text of the selling point; empty for none.'),
      })
      .meta({ id: 'LandingFeature' })
      .array()
      .describe('Selling points shown on the page, in their order.'),
    footer_text: z.string().nullish().describe('Text at the foot of the page in the requested language; null for none.'),
    tariffs: z
      .object({
        id: z.int().describe('Id of the tariff.'),
        name: z.string().describe('Name of the tariff that the page sells.'),
        description: z.string().nullish().describe('Text about the tariff, shown to users; null for none.'),
        traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
        device_limit: z.int().describe('Number of devices that may be connected.'),
        tier_level: z.int().describe('Class of the tariff, 1 to 10, for display only.'),
        periods: z
          .object({
            days: z.int().describe('Length in days of the period that is sold.'),
            label: z.string().describe('Length of the period for display.'),
            price_kopeks: z.int().describe('Price in kopeks, after discounts.'),
            price_label: z.string().describe('Price for display, for example `990 ₽`.'),
            original_price_kopeks: z
              .int()
              .nullish()
              .describe('Price before discounts in kopeks; null when there is no discount.'),
            original_price_label: z
              .string()
              .nullish()
              .describe('Price before discounts for display; null when there is no discount.'),
            discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
          })
          .meta({ id: 'LandingTariffPeriod' })
          .array()
          .describe('Periods that can be bought, shortest first.'),
      })
      .meta({ id: 'LandingTariff' })
      .array()
      .describe('Tariffs in the order of display.'),
    payment_methods: z
      .object({
        method_id: z.string().describe('Id of the payment method.'),
        display_name: z.string().describe('Name shown to users.'),
        description: z.string().nullish().describe('Text under the name of the payment method; null for none.'),
        icon_url: z.string().nullish().describe('Address of the icon; null for the default one.'),
        sort_order: z.int().default(0).describe('Place in the list; smaller numbers come first.'),
        min_amount_kopeks: z
          .int()
          .nullish()
          .describe('Smallest amount of the method in kopeks; null if the method has no limit.'),
        max_amount_kopeks: z
          .int()
          .nullish()
          .describe('Greatest amount of the method in kopeks; null if the method has no limit.'),
        currency: z.string().nullish().describe('ISO 4217 code of the currency; null when none was recorded.'),
        sub_options: z
          .object({
            id: z.string().describe('Identifier of the variant; appended to the method with an underscore in `payment_method`.'),
            name: z.string().describe('Name of the variant of the payment method, shown to buyers.'),
          })
          .meta({ id: 'LandingPaymentMethodSubOption' })
          .array()
          .nullish()
          .describe('Variants that can be chosen; null for none.'),
      })
      .meta({ id: 'LandingPaymentMethod' })
      .array()
      .describe('Payment methods of the page, in their order.'),
    gift_enabled: z.boolean().describe('Whether purchases for another person are possible.'),
    custom_css: z.string().nullish().describe('Style sheet of the page; null for none.'),
    meta_title: z.string().nullish().describe('Title for search engines in the requested language; null for none.'),
    meta_description: z.string().nullish().describe('Description for search engines in the requested language; null for none.'),
    discount: z
      .object({
        percent: z.int().describe('Discount in percent.'),
        ends_at: z.string().describe('End of the discount (UTC).'),
        badge_text: z.string().nullish().describe('Text beside the discount in the requested language; null for none.'),
      })
      .meta({ id: 'LandingDiscountInfo' })
      .nullish()
      .describe('Running discount; null when there is none.'),
    background_config: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Animated background: `enabled`, `type`, `settings`, `opacity`, `blur`, `reducedOnMobile`; null for none.'),
  })
  .meta({ id: 'LandingConfigResponse' });

const ContactTypeField = z.string().regex(/^(email|messenger)$/);

const LandingPurchaseBody = z
  .object({
    tariff_id: z.int().describe('Id of the tariff.'),
    period_days: z.int().describe('Length of the period in days.'),
    contact_type: ContactTypeField.describe('How the buyer is reached: `email` or `messenger`.'),
    contact_value: z.string().min(1).max(255).describe('E-mail address or user name of the buyer; masked on public answers.'),
    payment_method: z
      .string()
      .min(1)
      .max(50)
      .regex(/^[a-z0-9_]+$/)
      .describe('Method of the sales page, or `{method}_{variant}`.'),
    is_gift: z.boolean().default(false).describe('Whether the purchase is for another person.'),
    gift_recipient_type: ContactTypeField.nullish().describe(
      'How the recipient is reached: `email` or `messenger`; required for a gift, null otherwise.',
    ),
    gift_recipient_value: z
      .string()
      .max(255)
      .nullish()
      .describe('E-mail address or user name of the recipient; required for a gift, null otherwise.'),
    gift_message: z.string().max(1000).nullish().describe('Message to the recipient; null for none.'),
  })
  .meta({
    id: 'PurchaseRequest',
    example: {
      tariff_id: 1,
      period_days: 30,
      contact_type: 'email',
      contact_value: 'buyer@example.com',
      payment_method: 'yookassa_sbp',
    },
  });

const LandingPurchaseRequest = withBody(
  z.object({ slug: z.string().describe('Last part of the address of the sales page.') }),
  LandingPurchaseBody,
).superRefine((body, ctx) => {
  // Errors of single fields are reported first, without the errors that follow from them.
  if (ctx.issues.length > 0) return;
  if (!readContact(body.contact_type as 'email', body.contact_value)) {
    ctx.addIssue({ code: 'custom', path: ['contact_value'], message: problemOf(body.contact_type) });
  }
  if (!body.is_gift) return;
  if (!body.gift_recipient_type || !body.gift_recipient_value) {
    ctx.addIssue({ code: 'custom', path: ['gift_recipient_value'], message: 'A gift needs a recipient: type and value' });
  } else if (!readContact(body.gift_recipient_type as 'email', body.gift_recipient_value)) {
    ctx.addIssue({ code: 'custom', path: ['gift_recipient_value'], message: problemOf(body.gift_recipient_type) });
  }
});

function problemOf(type: string): string {
  return type === 'email' ? 'Invalid email format' : 'Invalid messenger username format';
}

const PurchaseResponse = z
  .object({
    purchase_token: z.string().describe('Token of the purchase: gives access to its state. Keep it secret.'),
    payment_url: z.string().describe('Address where the user pays.'),
  })
  .meta({ id: 'PurchaseResponse' });

const PurchaseTokenPath = z.object({ token: z.string().describe('Token of the purchase, as the purchase returned it.') });

const PurchaseStatusResponse = z
  .object({
    status: z
      .string()
      .describe(
        'State of the purchase: `pending` (not paid), `paid` (money received, access not given yet), `pending_activation` (the recipient has a running subscription and must agree), `delivered`, `failed` or `expired`.',
      ),
    subscription_url: z
      .string()
      .nullish()
      .describe('Link that client apps load the configuration from; null while the panel has not created it.'),
    subscription_crypto_link: z
      .string()
      .nullish()
      .describe('Encrypted form of the link for the Happ app; null when the panel gives none.'),
    is_gift: z.boolean().default(false).describe('Whether the purchase is for another person.'),
    contact_value: z
      .string()
      .nullish()
      .describe('E-mail address or user name of the buyer; masked on public answers. Null when unknown.'),
    recipient_contact_value: z
      .string()
      .nullish()
      .describe('Masked contact of the recipient of a gift; null for other purchases.'),
    period_days: z.int().nullish().describe('Length of the bought period in days; null when unknown.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    gift_message: z.string().nullish().describe('Message to the recipient; null for none.'),
    contact_type: z.string().nullish().describe('How the buyer is reached: `email` or `messenger`; null when unknown.'),
    cabinet_email: z
      .string()
      .nullish()
      .describe('E-mail address to sign in to the cabinet with; null when there is none to show.'),
    cabinet_password: z
      .string()
      .nullish()
      .describe('Password of the account that the purchase created; shown for a limited time, null otherwise.'),
    auto_login_token: z
      .string()
      .nullish()
      .describe('One-time token to sign in to the cabinet with; shown for a limited time, null otherwise.'),
    recipient_in_bot: z
      .boolean()
      .nullish()
      .describe('Whether the recipient already uses the bot; null where that does not matter.'),
    bot_link: z.string().nullish().describe('Link to the bot for a recipient who does not use it yet; null otherwise.'),
  })
  .meta({ id: 'PurchaseStatusResponse' });

const rateLimited = refusal('rate_limited', 429, 'Too many requests');

const tags: [string] = ['Landing Pages'];

/**
 * Limits attempts by client address. Without an address or a working counter the request is refused.
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
      refuses: [...LANDING_PURCHASE_REFUSES, rateLimited],
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
