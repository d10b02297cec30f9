import { z } from 'zod';
import { putSetting, resetSetting, SETTING_CHANGE_REFUSES, SETTING_RESET_REFUSES } from '../../domain/settings/change-setting.ts';
import { getSetting, listCategories, listSettings } from '../../domain/settings/list-settings.ts';
import { settingNotFound } from '../../domain/settings/rules.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import { SettingListQuery, SettingPath } from '../web/settings.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { editorOf } from './setting-editor.ts';

/** Contract group `Admin Settings`. */

const CabinetAdminSettingsSettingCategorySummary = z
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

const CabinetAdminSettingsSettingDefinition = z
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

const AdminSettingUpdateInput = withBody(SettingPath, CabinetAdminSettingsSettingUpdateRequest);

const tags: [string] = ['Admin Settings'];

export const adminSettingsRouter = router({
  categories: adminProcedure('settings:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/settings/categories', tags, summary: 'List the categories of settings' },
      description: 'Lists the categories of settings, by label.',
    })
    .output(toWire(CabinetAdminSettingsSettingCategorySummary.array()))
    .query(({ ctx }) => listCategories(ctx.app)),

  list: adminProcedure('settings:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/settings', tags, summary: 'List settings' },
      description:
        'Lists settings, all or those of one category, with current values, choices and descriptions. Secrets are masked.',
    })
    .input(fromWire(SettingListQuery))
    .output(toWire(CabinetAdminSettingsSettingDefinition.array()))
    .query(({ ctx, input }) => listSettings(ctx.app, input.categoryKey)),

  get: adminProcedure('settings:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/settings/{key}', tags, summary: 'Read a setting' },
      description: 'Returns a setting with the current value and a description. Secrets are masked.',
      refuses: [settingNotFound],
    })
    .input(fromWire(SettingPath))
    .output(toWire(CabinetAdminSettingsSettingDefinition))
    .query(({ ctx, input }) => getSetting(ctx.app, input.key)),

  update: freshAdminProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/settings/{key}', tags, summary: 'Change a setting' },
      description:
        'Stores a value for a setting. It applies immediately on every instance, unless the environment sets a value, which takes precedence (except for what the branding of the cabinet sets: sign-in by e-mail and the sign-in button of the messenger). Settings that protect access can be changed by superadministrators only.',
      refuses: SETTING_CHANGE_REFUSES,
      audit: { hide: ['value'] },
    })
    .input(fromWire(AdminSettingUpdateInput))
    .output(toWire(CabinetAdminSettingsSettingDefinition))
    .mutation(({ ctx, input }) => putSetting(ctx.app, editorOf(ctx.actor), input.key, input.value)),

  reset: freshAdminProcedure('settings:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/settings/{key}', tags, summary: 'Reset a setting to its default' },
      description:
        'Removes the stored value, so that the environment or the default applies again. Repeating the call changes nothing.',
      refuses: SETTING_RESET_REFUSES,
    })
    .input(fromWire(SettingPath))
    .output(toWire(CabinetAdminSettingsSettingDefinition))
    .mutation(({ ctx, input }) => resetSetting(ctx.app, editorOf(ctx.actor), input.key)),
});
