import { putSetting, resetSetting } from '../../domain/settings/change-setting.ts';
import { getSetting, listCategories, listSettings } from '../../domain/settings/list-settings.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  SettingCategorySummary,
  SettingDefinition,
  SettingListQuery,
  SettingPath,
  SettingUpdateInput,
} from './settings.schemas.ts';

const tags: [string] = ['settings'];

export const settingsRouter = router({
  categories: webProcedure
    .meta({ openapi: { method: 'GET', path: '/settings/categories', tags, summary: 'List the categories of settings' } })
    .output(toWire(SettingCategorySummary.array()))
    .query(({ ctx }) => listCategories(ctx.app)),

  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/settings', tags, summary: 'List settings' } })
    .input(fromWire(SettingListQuery))
    .output(toWire(SettingDefinition.array()))
    .query(({ ctx, input }) => listSettings(ctx.app, input.categoryKey)),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/settings/{key}', tags, summary: 'Read a setting' } })
    .input(fromWire(SettingPath))
    .output(toWire(SettingDefinition))
    .query(({ ctx, input }) => getSetting(ctx.app, input.key)),

  update: auditedWebProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path: '/settings/{key}', tags, summary: 'Change a setting' },
      // The audit record has the value before and after, unless it is a secret.
      audit: { hide: ['value'] },
    })
    .input(fromWire(SettingUpdateInput))
    .output(toWire(SettingDefinition))
    .mutation(({ ctx, input }) => putSetting(ctx.app, ctx.actor, input.key, input.value)),

  reset: auditedWebProcedure('settings:edit')
    .meta({ openapi: { method: 'DELETE', path: '/settings/{key}', tags, summary: 'Reset a setting to its default' } })
    .input(fromWire(SettingPath))
    .output(toWire(SettingDefinition))
    .mutation(({ ctx, input }) => resetSetting(ctx.app, ctx.actor, input.key)),
});
