import { putSetting, resetSetting } from '../../domain/settings/change-setting.ts';
import { getSetting, listCategories, listSettings } from '../../domain/settings/list-settings.ts';
import type { SettingView } from '../../domain/settings/types.ts';
import { editorOf, toSettingAnswer } from '../setting-wire.ts';
import { adminProcedure, router } from '../trpc.ts';
import { SettingListQuery, SettingPath } from '../web/settings.schemas.ts';
import {
  CabinetAdminSettingsSettingCategorySummary,
  CabinetAdminSettingsSettingDefinition,
  CabinetAdminSettingsSettingUpdateRequest,
} from './settings.schemas.ts';

const tags: [string] = ['Admin Settings'];

function toDefinition(setting: SettingView) {
  return { ...toSettingAnswer(setting), hint: setting.hint };
}

export const adminSettingsRouter = router({
  categories: adminProcedure('settings:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/settings/categories', tags, summary: 'List the categories of settings' },
    })
    .output(CabinetAdminSettingsSettingCategorySummary.array())
    .query(({ ctx }) => listCategories(ctx.app)),

  list: adminProcedure('settings:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/settings', tags, summary: 'List settings' } })
    .input(SettingListQuery)
    .output(CabinetAdminSettingsSettingDefinition.array())
    .query(({ ctx, input }) => listSettings(ctx.app, input.category_key).map(toDefinition)),

  get: adminProcedure('settings:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/settings/{key}', tags, summary: 'Read a setting' } })
    .input(SettingPath)
    .output(CabinetAdminSettingsSettingDefinition)
    .query(({ ctx, input }) => toDefinition(getSetting(ctx.app, input.key))),

  update: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/settings/{key}', tags, summary: 'Change a setting' },
      audit: { hide: ['value'] },
    })
    .input(CabinetAdminSettingsSettingUpdateRequest)
    .output(CabinetAdminSettingsSettingDefinition)
    .mutation(async ({ ctx, input }) => toDefinition(await putSetting(ctx.app, editorOf(ctx.actor), input.key, input.value))),

  reset: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/settings/{key}', tags, summary: 'Put a setting back to its default' },
    })
    .input(SettingPath)
    .output(CabinetAdminSettingsSettingDefinition)
    .mutation(async ({ ctx, input }) => toDefinition(await resetSetting(ctx.app, editorOf(ctx.actor), input.key))),
});
