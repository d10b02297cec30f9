import { z } from 'zod';

/** Contract group `Admin Button Styles` (spec 05 section 8). */

const ButtonSectionConfig = z
  .object({
    style: z.string().default('primary'),
    icon_custom_emoji_id: z.string().default(''),
    enabled: z.boolean().default(true),
    labels: z.record(z.string(), z.string()).default({}),
  })
  .meta({ id: 'ButtonSectionConfig' });

export const ButtonStylesResponse = z
  .object({
    home: ButtonSectionConfig.optional(),
    subscription: ButtonSectionConfig.optional(),
    balance: ButtonSectionConfig.optional(),
    referral: ButtonSectionConfig.optional(),
    support: ButtonSectionConfig.optional(),
    info: ButtonSectionConfig.optional(),
    admin: ButtonSectionConfig.optional(),
  })
  .meta({ id: 'ButtonStylesResponse' });

const ButtonSectionUpdate = z
  .object({
    style: z.string().nullish(),
    icon_custom_emoji_id: z.string().nullish(),
    enabled: z.boolean().nullish(),
    labels: z.record(z.string(), z.string()).nullish(),
  })
  .meta({ id: 'ButtonSectionUpdate' });

export const ButtonStylesUpdate = z
  .object({
    home: ButtonSectionUpdate.nullish(),
    subscription: ButtonSectionUpdate.nullish(),
    balance: ButtonSectionUpdate.nullish(),
    referral: ButtonSectionUpdate.nullish(),
    support: ButtonSectionUpdate.nullish(),
    info: ButtonSectionUpdate.nullish(),
    admin: ButtonSectionUpdate.nullish(),
  })
  .meta({ id: 'ButtonStylesUpdate', example: { home: { style: 'primary', enabled: true, labels: { en: 'Home' } } } });
