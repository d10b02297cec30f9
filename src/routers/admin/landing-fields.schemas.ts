import { z } from 'zod';
import { readBackground } from '../../domain/storefront/landings/landings.ts';
import { LOCALES } from '../../domain/storefront/landings/rules.ts';

/** Fields of a sales page with additional rules. */

const MAX_PERIOD_KEYS = 50;
const MAX_PERIODS = 20;
const MAX_SUB_OPTIONS = 20;
const MAX_SUB_OPTION = 50;
const MAX_TARIFF_ID = 2_147_483_647;
const DIGITS = /^\d{1,10}$/;

/** A text by locale; a plain text is Russian. @param maxLength of each text */
export const localeTexts = (maxLength: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? { ru: value } : value),
    z.record(z.string(), z.string()).superRefine((texts, ctx) => {
      for (const [locale, text] of Object.entries(texts)) {
        if (!LOCALES.some((known) => known === locale)) {
          ctx.addIssue({ code: 'custom', message: `Unsupported locale: ${locale}` });
        } else if (text.length > maxLength) {
          ctx.addIssue({ code: 'custom', message: `Text of locale ${locale} must have at most ${maxLength} characters` });
        }
      }
    }),
  );

/** Days by tariff id. */
export const AllowedPeriods = z.record(z.string(), z.int().array()).superRefine((periods, ctx) => {
  const entries = Object.entries(periods);
  if (entries.length > MAX_PERIOD_KEYS) {
    ctx.addIssue({ code: 'custom', message: `allowed_periods must have at most ${MAX_PERIOD_KEYS} keys` });
  }
  for (const [tariffId, days] of entries) {
    if (!DIGITS.test(tariffId)) ctx.addIssue({ code: 'custom', message: 'allowed_periods keys must be tariff ids' });
    if (days.length > MAX_PERIODS) {
      ctx.addIssue({ code: 'custom', message: `A tariff must have at most ${MAX_PERIODS} periods` });
    }
  }
});

/** Percent by tariff id, 1 to 99. */
export const DiscountOverrides = z.record(z.string(), z.int()).superRefine((overrides, ctx) => {
  const entries = Object.entries(overrides);
  if (entries.length > 100) ctx.addIssue({ code: 'custom', message: 'discount_overrides must have at most 100 keys' });
  for (const [tariffId, percent] of entries) {
    if (!DIGITS.test(tariffId)) ctx.addIssue({ code: 'custom', message: 'discount_overrides keys must be tariff ids' });
    if (percent < 1 || percent > 99) ctx.addIssue({ code: 'custom', message: 'An override must be between 1 and 99' });
  }
});

/** Drops duplicates, and numbers that cannot be the id of a tariff. */
export function tariffIds(ids: readonly number[]): number[] {
  return [...new Set(ids)].filter((id) => id >= 1 && id <= MAX_TARIFF_ID);
}

/** How the page's background is drawn; the domain drops unknown keys. */
export const BackgroundConfig = z.record(z.string(), z.unknown()).superRefine((config, ctx) => {
  const read = readBackground(config);
  if ('problem' in read) ctx.addIssue({ code: 'custom', message: read.problem });
});

export const LandingFeatureInput = z
  .object({
    icon: z.string().max(100).default('').describe('Emoji or icon name; empty when there is none.'),
    title: localeTexts(200).prefault({}).describe('Title by language.'),
    description: localeTexts(500).prefault({}).describe('Text by language.'),
  })
  .meta({ id: 'LandingFeatureInput' });

/** Only over https or from the same site, because the page is public (spec 03 H23). */
const isIconUrl = (url: string) => /^https:\/\/\S+$/i.test(url) || /^\/(?![/\\])\S*$/.test(url) || url === '';

function isReturnUrl(text: string): boolean {
  try {
    const url = new URL(text.replaceAll('{token}', 'token'));
    return url.protocol === 'https:' && url.hostname !== '' && url.username === '' && url.password === '';
  } catch {
    return false;
  }
}

const SubOptions = z.record(z.string(), z.boolean()).superRefine((options, ctx) => {
  const keys = Object.keys(options);
  if (keys.length > MAX_SUB_OPTIONS) {
    ctx.addIssue({ code: 'custom', message: `sub_options must have at most ${MAX_SUB_OPTIONS} keys` });
  }
  if (keys.some((key) => key.length > MAX_SUB_OPTION)) {
    ctx.addIssue({ code: 'custom', message: `sub_options keys must have at most ${MAX_SUB_OPTION} characters` });
  }
});

const Amount = z
  .int()
  .refine((kopeks) => kopeks >= 0, 'An amount must not be negative')
  .nullish();

export const LandingPaymentMethodInput = z
  .object({
    method_id: z.string().max(50).describe('Id of the payment method.'),
    display_name: z.string().max(200).describe('Name shown to users.'),
    description: z
      .string()
      .max(500)
      .nullish()
      .describe('Text under the name of the payment method on the page, up to 500 characters; null for none.'),
    icon_url: z
      .string()
      .max(500)
      .refine(isIconUrl, 'icon_url must start with https:// or /')
      .nullish()
      .describe('Address of the icon; null for the default one.'),
    sort_order: z.int().default(0).describe('Place in the list; smaller numbers come first.'),
    min_amount_kopeks: Amount.describe('Smallest amount of the method in kopeks; null if the method has no limit.'),
    max_amount_kopeks: Amount.describe('Greatest amount of the method in kopeks; null if the method has no limit.'),
    currency: z.string().max(10).nullish().describe('Currency of the method; null for the default one.'),
    return_url: z
      .string()
      .max(500)
      .refine((url) => url === '' || isReturnUrl(url), 'return_url must be an https address without credentials')
      .nullish()
      .describe('Address to which the provider returns the buyer; `{token}` is replaced. Null for the page of the cabinet.'),
    sub_options: SubOptions.nullish().describe('Variants of the method: id to whether it is offered; null for none.'),
  })
  .superRefine(({ min_amount_kopeks: min, max_amount_kopeks: max }, ctx) => {
    if (typeof min === 'number' && typeof max === 'number' && min > max) {
      ctx.addIssue({ code: 'custom', message: 'min_amount_kopeks must not be above max_amount_kopeks' });
    }
  })
  .meta({ id: 'LandingPaymentMethodInput' });
