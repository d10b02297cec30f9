import { putSetting, resetSetting } from '../../domain/settings/change-setting.ts';
import { getSetting, listCategories, listSettings } from '../../domain/settings/list-settings.ts';
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
    })
    .output(toWire(CabinetAdminSettingsSettingCategorySummary.array()))
    .query(({ ctx }) => listCategories(ctx.app)),

  list: adminProcedure('settings:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/settings', tags, summary: 'List settings' } })
    .input(fromWire(SettingListQuery))
    .output(toWire(CabinetAdminSettingsSettingDefinition.array()))
    .query(({ ctx, input }) => listSettings(ctx.app, input.categoryKey)),

  get: adminProcedure('settings:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/settings/{key}', tags, summary: 'Read a setting' } })
    .input(fromWire(SettingPath))
    .output(toWire(CabinetAdminSettingsSettingDefinition))
    .query(({ ctx, input }) => getSetting(ctx.app, input.key)),

  update: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/settings/{key}', tags, summary: 'Change a setting' },
      audit: { hide: ['value'] },
    })
    .input(fromWire(AdminSettingUpdateInput))
    .output(toWire(CabinetAdminSettingsSettingDefinition))
    .mutation(({ ctx, input }) => putSetting(ctx.app, editorOf(ctx.actor), input.key, input.value)),

  reset: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/settings/{key}', tags, summary: 'Reset a setting to its default' },
    })
    .input(fromWire(SettingPath))
    .output(toWire(CabinetAdminSettingsSettingDefinition))
    .mutation(({ ctx, input }) => resetSetting(ctx.app, editorOf(ctx.actor), input.key)),
});
