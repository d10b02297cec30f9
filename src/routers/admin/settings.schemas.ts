import { z } from 'zod';
import { SettingPath } from '../web/settings.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `Admin Settings` (spec 06 section 6.3). */

export const CabinetAdminSettingsSettingCategorySummary = z
  .object({
    key: z.string().describe('Key of the category.'),
    label: z.string().describe('Text for display.'),
    description: z.string().default('').describe('What the settings of the category control; empty for none.'),
    items: z.int().describe('Number of settings in the category.'),
  })
  .meta({ id: 'CabinetAdminSettingsSettingCategorySummary' });

const CategoryRef = z
  .object({ key: z.string().describe('Key of the category.'), label: z.string().describe('Text for display.') })
  .meta({ id: 'CabinetAdminSettingsSettingCategoryRef' });

const Choice = z
  .object({
    value: z.unknown().describe('Value to send.'),
    label: z.string().describe('Text for display.'),
    description: z.string().nullish().describe('What the choice means; null when the label says it.'),
  })
  .meta({ id: 'CabinetAdminSettingsSettingChoice' });

const SettingHint = z
  .object({
    description: z.string().default('').describe('What the setting controls.'),
    format: z.string().default('').describe('Form of the value.'),
    example: z.string().default('').describe('Example of a value.'),
    warning: z.string().default('').describe('What a wrong value causes.'),
  })
  .meta({ id: 'SettingHint' });

export const CabinetAdminSettingsSettingDefinition = z
  .object({
    key: z.string().describe('Key of the setting, for example `SALES_MODE`.'),
    name: z.string().describe('Key of the setting in human-readable form.'),
    category: CategoryRef.describe('Category.'),
    type: z.string().describe('Type of the value: `bool`, `int`, `float` or `str`; `optional[…]` where null is allowed.'),
    is_optional: z.boolean().describe('Whether null is allowed.'),
    current: z.unknown().optional().describe('Current value; a mask for secrets.'),
    original: z
      .unknown()
      .optional()
      .describe('Value without a stored one: from the environment or the default; a mask for secrets.'),
    has_override: z
      .boolean()
      .describe('Whether a stored value exists and applies. A value of the environment takes precedence over it.'),
    read_only: z.boolean().default(false).describe('Whether the value cannot be changed through this interface.'),
    choices: Choice.array().default([]).describe('Allowed values; empty when any is.'),
    hint: SettingHint.nullish().describe('Description for editors; null for none.'),
  })
  .meta({ id: 'CabinetAdminSettingsSettingDefinition' });

/** `null` is a value; a missing field is refused. */
const CabinetAdminSettingsSettingUpdateRequest = z
  .object({ value: z.unknown().describe('New value, of the type of the setting; null only where that is optional.') })
  .meta({ id: 'CabinetAdminSettingsSettingUpdateRequest', example: { value: 10 } });

export const AdminSettingUpdateInput = withBody(SettingPath, CabinetAdminSettingsSettingUpdateRequest);
