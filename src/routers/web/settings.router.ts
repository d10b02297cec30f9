import { putSetting, resetSetting, SETTING_CHANGE_REFUSES, SETTING_RESET_REFUSES } from '../../domain/settings/change-setting.ts';
import { getSetting, listCategories, listSettings } from '../../domain/settings/list-settings.ts';
import { settingNotFound } from '../../domain/settings/rules.ts';
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
    .meta({
      openapi: { method: 'GET', path: '/settings/categories', tags, summary: 'List the categories of settings' },
      description: 'Lists the categories of settings, by label.',
    })
    .output(toWire(SettingCategorySummary.array()))
    .query(({ ctx }) => listCategories(ctx.app)),

  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/settings', tags, summary: 'List settings' },
      description: 'Lists settings, all or those of one category, with current values, defaults and choices. Secrets are masked.',
    })
    .input(fromWire(SettingListQuery))
    .output(toWire(SettingDefinition.array()))
    .query(({ ctx, input }) => listSettings(ctx.app, input.categoryKey)),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/settings/{key}', tags, summary: 'Read a setting' },
      description: 'Returns a setting with the current value. Secrets are masked.',
      refuses: [settingNotFound],
    })
    .input(fromWire(SettingPath))
    .output(toWire(SettingDefinition))
    .query(({ ctx, input }) => getSetting(ctx.app, input.key)),

  update: auditedWebProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path: '/settings/{key}', tags, summary: 'Change a setting' },
      description:
        'Stores a value for a setting. It applies immediately on every instance, unless the environment sets a value, which takes precedence. Some settings have further effects: prices are recomputed, jobs are rescheduled. The call is recorded in the audit log.',
      refuses: SETTING_CHANGE_REFUSES,
      // The audit record has the value before and after, unless it is a secret.
      audit: { hide: ['value'] },
    })
    .input(fromWire(SettingUpdateInput))
    .output(toWire(SettingDefinition))
    .mutation(({ ctx, input }) => putSetting(ctx.app, ctx.actor, input.key, input.value)),

  reset: auditedWebProcedure('settings:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/settings/{key}', tags, summary: 'Reset a setting to its default' },
      description:
        'Removes the stored value, so that the environment or the default applies again. Repeating the call changes nothing. The call is recorded in the audit log.',
      refuses: SETTING_RESET_REFUSES,
    })
    .input(fromWire(SettingPath))
    .output(toWire(SettingDefinition))
    .mutation(({ ctx, input }) => resetSetting(ctx.app, ctx.actor, input.key)),
});
