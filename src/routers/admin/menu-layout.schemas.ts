import { z } from 'zod';

/** Contract group `Admin Menu Layout` (spec 05 section 8). */

const MAX_LABELS = 10;

/** The contract bounds the number of labels with `maxLength`. */
const Labels = z
  .record(z.string(), z.string())
  .superRefine((labels, ctx) => {
    if (Object.keys(labels).length > MAX_LABELS) {
      ctx.addIssue({ code: 'too_big', origin: 'map', maximum: MAX_LABELS, inclusive: true, input: labels });
    }
  })
  .meta({ maxLength: MAX_LABELS });

const ButtonConfig = z
  .object({
    id: z.string().max(100).describe('Section of a built-in button, or `custom_…` for a button of your own.'),
    type: z
      .enum(['builtin', 'custom'])
      .describe('Kind of button: `builtin` (of the service) or `custom` (made by an administrator).'),
    style: z.string().max(20).default('primary').describe('Colour of the button: `primary`, `success`, `danger` or `default`.'),
    icon_custom_emoji_id: z.string().max(100).default('').describe('Id of a custom emoji of the messenger; empty for none.'),
    enabled: z.boolean().default(true).describe('Whether the button is shown.'),
    labels: Labels.default({}).describe(
      'Text by language (`ru`, `en`, `ua`, `zh`, `fa`); a missing language has the default text.',
    ),
    url: z.string().max(2048).nullish().describe('Address of a button of your own; null for a built-in one.'),
    open_in: z
      .enum(['external', 'webapp'])
      .default('external')
      .describe('Where a button of your own opens: `external` or `webapp`.'),
  })
  .meta({ id: 'ButtonConfig', example: { id: 'home', type: 'builtin' } });

const RowConfig = z
  .object({
    id: z.string().max(100).describe('Id of the row.'),
    max_per_row: z.int().min(1).max(3).default(2).describe('Buttons side by side; further ones go to the next line.'),
    buttons: ButtonConfig.array().max(3).default([]).describe('Buttons of the row, in their order.'),
  })
  .meta({ id: 'RowConfig' });

export const MenuConfigResponse = z
  .object({ rows: RowConfig.array().describe('Rows from top to bottom.') })
  .meta({ id: 'MenuConfigResponse' });

export const MenuConfigUpdateRequest = z
  .object({ rows: RowConfig.array().max(20).describe('All rows from top to bottom; at least one.') })
  .meta({ id: 'MenuConfigUpdateRequest', example: { rows: [{ id: 'main', max_per_row: 2, buttons: [] }] } });
