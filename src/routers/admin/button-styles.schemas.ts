import { z } from 'zod';

/** Contract group `Admin Button Styles` (spec 05 section 8). */

const ButtonSectionConfig = z
  .object({
    style: z.string().default('primary').describe('Colour of the button: `primary`, `success`, `danger` or `default`.'),
    icon_custom_emoji_id: z.string().default('').describe('Id of a custom emoji of the messenger; empty for none.'),
    enabled: z.boolean().default(true).describe('Whether it is switched on.'),
    labels: z
      .record(z.string(), z.string())
      .default({})
      .describe('Text by language (`ru`, `en`, `ua`, `zh`, `fa`); a missing language has the default text.'),
  })
  .meta({ id: 'ButtonSectionConfig' });

export const ButtonStylesResponse = z
  .object({
    home: ButtonSectionConfig.optional().describe('Style of the button of the section “start page”.'),
    subscription: ButtonSectionConfig.optional().describe('Style of the button of the section “subscription”.'),
    balance: ButtonSectionConfig.optional().describe('Style of the button of the section “balance”.'),
    referral: ButtonSectionConfig.optional().describe('Style of the button of the section “referrals”.'),
    support: ButtonSectionConfig.optional().describe('Style of the button of the section “support”.'),
    info: ButtonSectionConfig.optional().describe('Style of the button of the section “information”.'),
    admin: ButtonSectionConfig.optional().describe('Style of the button of the section “administration”.'),
  })
  .meta({ id: 'ButtonStylesResponse' });

const ButtonSectionUpdate = z
  .object({
    style: z
      .string()
      .nullish()
      .describe('Colour of the button: `primary`, `success`, `danger` or `default`; null leaves it unchanged.'),
    icon_custom_emoji_id: z
      .string()
      .nullish()
      .describe('Id of a custom emoji of the messenger; empty for none, null leaves it unchanged.'),
    enabled: z.boolean().nullish().describe('Whether the button is shown; null leaves it unchanged.'),
    labels: z
      .record(z.string(), z.string())
      .nullish()
      .describe(
        'All texts by language (`ru`, `en`, `ua`, `zh`, `fa`), up to 100 characters each; an empty text or map stands for the default, null leaves them unchanged.',
      ),
  })
  .meta({ id: 'ButtonSectionUpdate' });

export const ButtonStylesUpdate = z
  .object({
    home: ButtonSectionUpdate.nullish().describe('Style of the button of the section “start page”; null leaves it unchanged.'),
    subscription: ButtonSectionUpdate.nullish().describe(
      'Style of the button of the section “subscription”; null leaves it unchanged.',
    ),
    balance: ButtonSectionUpdate.nullish().describe('Style of the button of the section “balance”; null leaves it unchanged.'),
    referral: ButtonSectionUpdate.nullish().describe('Style of the button of the section “referrals”; null leaves it unchanged.'),
    support: ButtonSectionUpdate.nullish().describe('Style of the button of the section “support”; null leaves it unchanged.'),
    info: ButtonSectionUpdate.nullish().describe('Style of the button of the section “information”; null leaves it unchanged.'),
    admin: ButtonSectionUpdate.nullish().describe(
      'Style of the button of the section “administration”; null leaves it unchanged.',
    ),
  })
  .meta({ id: 'ButtonStylesUpdate', example: { home: { style: 'primary', enabled: true, labels: { en: 'Home' } } } });
