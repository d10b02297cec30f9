import { putSetting, resetSetting } from '../../domain/settings/change-setting.ts';
import { getSetting, listCategories, listSettings } from '../../domain/settings/list-settings.ts';
import { toSettingAnswer } from '../setting-wire.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  SettingCategorySummary,
  SettingDefinition,
  SettingListQuery,
  SettingPath,
  SettingUpdateRequest,
} from './settings.schemas.ts';

const tags: [string] = ['settings'];

export const settingsRouter = router({
  categories: webProcedure
    .meta({ openapi: { method: 'GET', path: '/settings/categories', tags, summary: 'List the categories of settings' } })
    .output(SettingCategorySummary.array())
    .query(({ ctx }) => listCategories(ctx.app).map(({ key, label, items }) => ({ key, label, items }))),

  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/settings', tags, summary: 'List settings' } })
    .input(SettingListQuery)
    .output(SettingDefinition.array())
    .query(({ ctx, input }) => listSettings(ctx.app, input.category_key).map(toSettingAnswer)),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/settings/{key}', tags, summary: 'Read a setting' } })
    .input(SettingPath)
    .output(SettingDefinition)
    .query(({ ctx, input }) => toSettingAnswer(getSetting(ctx.app, input.key))),

  update: auditedWebProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path: '/settings/{key}', tags, summary: 'Change a setting' },
      // The notes before and after tell it, unless it is a secret.
      audit: { hide: ['value'] },
    })
    .input(SettingUpdateRequest)
    .output(SettingDefinition)
    .mutation(async ({ ctx, input }) => toSettingAnswer(await putSetting(ctx.app, ctx.actor, input.key, input.value))),

  reset: auditedWebProcedure('settings:edit')
    .meta({ openapi: { method: 'DELETE', path: '/settings/{key}', tags, summary: 'Put a setting back to its default' } })
    .input(SettingPath)
    .output(SettingDefinition)
    .mutation(async ({ ctx, input }) => toSettingAnswer(await resetSetting(ctx.app, ctx.actor, input.key))),
});
