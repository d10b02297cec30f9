import { z } from 'zod';
import {
  cabinetMenuInvalid,
  type FilledRow,
  readCabinetLayout,
  resetCabinetLayout,
  saveCabinetLayout,
} from '../../domain/content/menu-layout/cabinet-menu.ts';
import { adminProcedure, router } from '../trpc.ts';

/** Contract group `Admin Menu Layout`. */

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

const MenuConfigResponse = z
  .object({ rows: RowConfig.array().describe('Rows from top to bottom.') })
  .meta({ id: 'MenuConfigResponse' });

const MenuConfigUpdateRequest = z
  .object({ rows: RowConfig.array().max(20).describe('All rows from top to bottom; at least one.') })
  .meta({ id: 'MenuConfigUpdateRequest', example: { rows: [{ id: 'main', max_per_row: 2, buttons: [] }] } });

const tags: [string] = ['Admin Menu Layout'];
const path = '/cabinet/admin/menu-layout';

function toConfig(rows: readonly FilledRow[]) {
  return {
    rows: rows.map((row) => ({
      ...row,
      buttons: row.buttons.map((button) => ({ ...button, labels: { ...button.labels } })),
    })),
  };
}

export const adminMenuLayoutRouter = router({
  get: adminProcedure('settings:read')
    .meta({
      openapi: { method: 'GET', path, tags, summary: 'Read the menu of the cabinet mode' },
      description: 'Returns the menu of the chat in cabinet mode, with the styles of its buttons.',
    })
    .output(MenuConfigResponse)
    .query(async ({ ctx }) => toConfig(await readCabinetLayout(ctx.app))),

  update: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path, tags, summary: 'Replace the menu of the cabinet mode' },
      description:
        'Replaces the menu of the chat in cabinet mode. It is checked as a whole; the chat shows it from the next message on.',
      refuses: [cabinetMenuInvalid],
    })
    .input(MenuConfigUpdateRequest)
    .output(MenuConfigResponse)
    .mutation(async ({ ctx, input }) => {
      const rows = input.rows.map((row) => ({
        ...row,
        buttons: row.buttons.map((button) => ({ ...button, url: button.url ?? null })),
      }));
      return toConfig(await saveCabinetLayout(ctx.app, rows));
    }),

  reset: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'POST', path: `${path}/reset`, tags, summary: 'Reset menu and styles to the defaults' },
      description: 'Resets the menu and the styles of its buttons to their defaults.',
    })
    .output(MenuConfigResponse)
    .mutation(async ({ ctx }) => toConfig(await resetCabinetLayout(ctx.app))),
});
