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
    id: z.string().max(100),
    type: z.enum(['builtin', 'custom']),
    style: z.string().max(20).default('primary'),
    icon_custom_emoji_id: z.string().max(100).default(''),
    enabled: z.boolean().default(true),
    labels: Labels.default({}),
    url: z.string().max(2048).nullish(),
    open_in: z.enum(['external', 'webapp']).default('external'),
  })
  .meta({ id: 'ButtonConfig', example: { id: 'home', type: 'builtin' } });

const RowConfig = z
  .object({
    id: z.string().max(100),
    max_per_row: z.int().min(1).max(3).default(2),
    buttons: ButtonConfig.array().max(3).default([]),
  })
  .meta({ id: 'RowConfig' });

export const MenuConfigResponse = z.object({ rows: RowConfig.array() }).meta({ id: 'MenuConfigResponse' });

export const MenuConfigUpdateRequest = z
  .object({ rows: RowConfig.array().max(20) })
  .meta({ id: 'MenuConfigUpdateRequest', example: { rows: [{ id: 'main', max_per_row: 2, buttons: [] }] } });
