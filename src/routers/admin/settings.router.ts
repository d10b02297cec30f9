import { putSetting, resetSetting, settingBadFormat, settingPathTaken } from '../../domain/settings/change-setting.ts';
import { getSetting, listCategories, listSettings } from '../../domain/settings/list-settings.ts';
import {
  settingGuarded,
  settingMaskedValue,
  settingNotAChoice,
  settingNotFound,
  settingReadOnly,
  settingValueRequired,
  settingWrongType,
} from '../../domain/settings/rules.ts';
import { adminProcedure, router } from '../trpc.ts';
import { SettingListQuery, SettingPath } from '../web/settings.schemas.ts';
import { fromWire, toWire } from '../wire.ts';
import { editorOf } from './setting-editor.ts';
import {
  AdminSettingUpdateInput,
  CabinetAdminSettingsSettingCategorySummary,
  CabinetAdminSettingsSettingDefinition,
} from './settings.schemas.ts';

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

  update: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/settings/{key}', tags, summary: 'Change a setting' },
      description:
        'Stores a value for a setting. It applies immediately on every instance, unless the environment sets a value, which takes precedence (except for what the branding of the cabinet sets: sign-in by e-mail and the sign-in button of the messenger). Settings that protect access can be changed by superadministrators only.',
      refuses: [
        settingBadFormat,
        settingMaskedValue,
        settingNotAChoice,
        settingPathTaken,
        settingValueRequired,
        settingWrongType,
        settingGuarded,
        settingReadOnly,
        settingNotFound,
      ],
      audit: { hide: ['value'] },
    })
    .input(fromWire(AdminSettingUpdateInput))
    .output(toWire(CabinetAdminSettingsSettingDefinition))
    .mutation(({ ctx, input }) => putSetting(ctx.app, editorOf(ctx.actor), input.key, input.value)),

  reset: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/settings/{key}', tags, summary: 'Reset a setting to its default' },
      description:
        'Removes the stored value, so that the environment or the default applies again. Repeating the call changes nothing.',
      refuses: [settingPathTaken, settingGuarded, settingNotFound],
    })
    .input(fromWire(SettingPath))
    .output(toWire(CabinetAdminSettingsSettingDefinition))
    .mutation(({ ctx, input }) => resetSetting(ctx.app, editorOf(ctx.actor), input.key)),
});
