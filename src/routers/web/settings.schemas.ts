import { z } from 'zod';
import { withBody } from '../wire.ts';

/** Contract group `settings`. */

export const SettingPath = z.object({ key: z.string().describe('Key of the setting, for example `SALES_MODE`.') });

export const SettingListQuery = z.object({
  category_key: z.string().nullish().describe('Only settings of this category; an unknown one gives an empty list.'),
});

export const SettingCategorySummary = z
  .object({
    key: z.string().describe('Key of the category.'),
    label: z.string().describe('Text for display.'),
    items: z.int().describe('Number of settings in the category.'),
  })
  .meta({ id: 'SettingCategorySummary' });

const SettingCategoryRef = z
  .object({ key: z.string().describe('Key of the category.'), label: z.string().describe('Text for display.') })
  .meta({ id: 'SettingCategoryRef' });

const SettingChoice = z
  .object({
    value: z.unknown().describe('Value to send.'),
    label: z.string().describe('Text for display.'),
    description: z.string().nullish().describe('What the choice means; null when the label says it.'),
  })
  .meta({ id: 'SettingChoice' });

export const SettingDefinition = z
  .object({
    key: z.string().describe('Key of the setting, for example `SALES_MODE`.'),
    name: z.string().describe('Key of the setting in human-readable form.'),
    category: SettingCategoryRef.describe('Category.'),
    type: z.string().describe('Type of the value: `bool`, `int`, `float` or `str`; `optional[…]` where null is allowed.'),
    is_optional: z.boolean().describe('Whether null is allowed.'),
    current: z.unknown().nullish().describe('Current value; a mask for secrets.'),
    original: z
      .unknown()
      .nullish()
      .describe('Value without a stored one: from the environment or the default; a mask for secrets.'),
    has_override: z
      .boolean()
      .describe('Whether a stored value exists and applies. A value of the environment takes precedence over it.'),
    read_only: z.boolean().default(false).describe('Whether the value cannot be changed through this interface.'),
    choices: SettingChoice.array().default([]).describe('Allowed values; empty when any is.'),
  })
  .meta({ id: 'SettingDefinition' });

/** `null` is a value; a missing field is refused. */
const SettingUpdateRequest = z
  .object({ value: z.unknown().describe('New value, of the type of the setting; null only where that is optional.') })
  .meta({ id: 'SettingUpdateRequest', example: { value: 10 } });

export const SettingUpdateInput = withBody(SettingPath, SettingUpdateRequest);
