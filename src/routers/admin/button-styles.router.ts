import { z } from 'zod';
import {
  buttonLookInvalid,
  changeButtonLooks,
  readButtonLooks,
  resetButtonLooks,
  type SectionLooks,
} from '../../domain/content/menu-layout/cabinet-menu.ts';
import { adminProcedure, router } from '../trpc.ts';

/** Contract group `Admin Button Styles`. */

const ButtonSectionConfig = z
  .object({
    style: z.string().default('primary').describe('Colour of the button: `primary`, `success`, `danger` or `default`.'),
    icon_custom_emoji_id: z.string().default('').describe('Id of a custom emoji of the messenger; empty for none.'),
    enabled: z.boolean().default(true).describe('Whether the menu shows the button of the section.'),
    labels: z
      .record(z.string(), z.string())
      .default({})
      .describe('Text by language (`ru`, `en`, `ua`, `zh`, `fa`); a missing language has the default text.'),
  })
  .meta({ id: 'ButtonSectionConfig' });

const ButtonStylesResponse = z
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

const ButtonStylesUpdate = z
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

const tags: [string] = ['Admin Button Styles'];
const path = '/cabinet/admin/button-styles';

/** The answer leaves out the language button, which the administration does not style. */
const answer = (looks: SectionLooks) =>
  Object.fromEntries(Object.entries(looks).map(([section, look]) => [section, { ...look, labels: { ...look.labels } }]));

export const adminButtonStylesRouter = router({
  get: adminProcedure('settings:read')
    .meta({
      openapi: { method: 'GET', path, tags, summary: 'Read the styles of the menu buttons' },
      description: 'Returns the styles of the seven sections of the menu in cabinet mode.',
    })
    .output(ButtonStylesResponse)
    .query(async ({ ctx }) => answer(await readButtonLooks(ctx.app))),

  update: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'PATCH', path, tags, summary: 'Change the styles of menu buttons' },
      description:
        'Changes the given fields of the given sections; absent and null ones remain, `labels` is replaced as a whole. If one is invalid, nothing is changed. The chat shows it from the next message on.',
      refuses: [buttonLookInvalid],
    })
    .input(ButtonStylesUpdate)
    .output(ButtonStylesResponse)
    .mutation(async ({ ctx, input }) => answer(await changeButtonLooks(ctx.app, input))),

  reset: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'POST', path: `${path}/reset`, tags, summary: 'Reset the styles of the menu buttons' },
      description: 'Resets the styles of all sections, that of the language button too. Rows and buttons of your own remain.',
    })
    .output(ButtonStylesResponse)
    .mutation(async ({ ctx }) => answer(await resetButtonLooks(ctx.app))),
});
