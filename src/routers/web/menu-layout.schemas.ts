import { z } from 'zod';
import {
  BOUND_CONDITIONS,
  type BoundCondition,
  BUTTON_TYPES,
  FLAG_CONDITIONS,
  type FlagCondition,
  OPEN_MODES,
  VISIBILITIES,
} from '../../domain/content/menu-layout/types.ts';
import { Moment } from '../shared.schemas.ts';
import { withBody } from '../wire.ts';

/** Contract group `menu-layout` (spec 05 section 7): documents, edits and history. */

const flag = z.boolean().nullish();
const bound = z.int().min(0).nullish();
const named = <K extends string, S extends z.ZodType>(names: readonly K[], schema: S) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<K, S>;

export const ButtonConditions = z
  .object({
    ...named<FlagCondition, typeof flag>(FLAG_CONDITIONS, flag),
    ...named<BoundCondition, typeof bound>(BOUND_CONDITIONS, bound),
    promo_group_ids: z.string().array().nullish(),
    exclude_promo_group_ids: z.string().array().nullish(),
  })
  .meta({ id: 'ButtonConditions' });

const rowFields = {
  id: z.string().min(1).max(50),
  buttons: z.string().array(),
  conditions: ButtonConditions.nullish(),
  max_per_row: z.int().min(1).max(4).default(2),
};

const ButtonKind = z.enum(BUTTON_TYPES);
const VisibilityName = z.enum(VISIBILITIES);
const TextByLanguage = z.record(z.string(), z.string());

export const MenuRowConfig = z
  .object(rowFields)
  .meta({ id: 'MenuRowConfig', example: { id: 'news_row', buttons: ['news'], max_per_row: 1 } });

export const MenuButtonConfig = z
  .object({
    type: ButtonKind,
    builtin_id: z.string().nullish(),
    text: TextByLanguage,
    icon: z.string().max(10).nullish(),
    action: z.string(),
    enabled: z.boolean().default(true),
    visibility: VisibilityName.default('all'),
    conditions: ButtonConditions.nullish(),
    dynamic_text: z.boolean().default(false),
    open_mode: z.enum(OPEN_MODES).default('callback'),
    webapp_url: z.string().nullish(),
    description: z.string().max(200).nullish(),
    sort_order: z.int().nullish(),
  })
  .meta({
    id: 'MenuButtonConfig',
    example: { type: 'url', text: { ru: 'Новости', en: 'News' }, action: 'https://example.com/news' },
  });

const Buttons = z.record(z.string(), MenuButtonConfig);

export const MenuLayoutResponse = z
  .object({
    version: z.int(),
    rows: MenuRowConfig.array(),
    buttons: Buttons,
    is_enabled: z.boolean(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'MenuLayoutResponse' });

export const MenuLayoutUpdateRequest = z
  .object({ rows: MenuRowConfig.array().nullish(), buttons: Buttons.nullish() })
  .meta({ id: 'MenuLayoutUpdateRequest' });

export const BuiltinButtonsListResponse = z
  .object({
    items: z
      .object({
        id: z.string(),
        default_text: TextByLanguage,
        callback_data: z.string(),
        default_conditions: ButtonConditions.nullish(),
        supports_dynamic_text: z.boolean().default(false),
        supports_direct_open: z.boolean().default(false),
      })
      .meta({ id: 'BuiltinButtonInfo' })
      .array(),
    total: z.int(),
  })
  .meta({ id: 'BuiltinButtonsListResponse' });

export const ButtonPath = z.object({ button_id: z.string() });
export const RowPath = z.object({ row_id: z.string() });

export const ButtonUpdateRequest = z
  .object({
    text: TextByLanguage.nullish(),
    icon: z.string().max(10).nullish(),
    enabled: z.boolean().nullish(),
    visibility: VisibilityName.nullish(),
    conditions: ButtonConditions.nullish(),
    action: z.string().nullish(),
    dynamic_text: z.boolean().nullish(),
    open_mode: z.enum(OPEN_MODES).nullish(),
    webapp_url: z.string().nullish(),
    description: z.string().max(200).nullish(),
    sort_order: z.int().nullish(),
  })
  .meta({ id: 'ButtonUpdateRequest', example: { text: { en: 'News' }, icon: '📰', enabled: true } });

export const ButtonUpdateInput = withBody(ButtonPath, ButtonUpdateRequest);

export const RowsReorderRequest = z
  .object({ ordered_ids: z.string().array().min(1) })
  .meta({ id: 'RowsReorderRequest', example: { ordered_ids: ['news_row', 'balance_row'] } });

export const AddRowRequest = z
  .object({ ...rowFields, position: z.int().min(0).nullish() })
  .meta({ id: 'AddRowRequest', example: { id: 'news_row', buttons: [], max_per_row: 1 } });

export const AddCustomButtonRequest = z
  .object({
    id: z.string().min(1).max(50),
    type: ButtonKind,
    text: TextByLanguage,
    icon: z.string().max(10).nullish(),
    action: z.string().min(1),
    visibility: VisibilityName.default('all'),
    conditions: ButtonConditions.nullish(),
    dynamic_text: z.boolean().default(false),
    row_id: z.string().nullish(),
    description: z.string().max(200).nullish(),
  })
  .meta({
    id: 'AddCustomButtonRequest',
    example: { id: 'news', type: 'url', text: { ru: 'Новости', en: 'News' }, action: 'https://example.com/news' },
  });

export const MenuPreviewRequest = z
  .object({
    language: z.string().default('ru'),
    is_admin: z.boolean().default(false),
    is_moderator: z.boolean().default(false),
    has_active_subscription: z.boolean().default(false),
    subscription_is_active: z.boolean().default(false),
    balance_kopeks: z.int().min(0).default(0),
  })
  .meta({ id: 'MenuPreviewRequest' });

export const MenuPreviewResponse = z
  .object({
    rows: z
      .object({
        buttons: z.object({ text: z.string(), action: z.string(), type: ButtonKind }).meta({ id: 'MenuPreviewButton' }).array(),
      })
      .meta({ id: 'MenuPreviewRow' })
      .array(),
    total_buttons: z.int(),
  })
  .meta({ id: 'MenuPreviewResponse' });

export const MoveButtonResponse = z
  .object({
    button_id: z.string(),
    new_row_index: z.int().nullish(),
    target_row_id: z.string().nullish(),
    position: z.int().nullish(),
  })
  .meta({ id: 'MoveButtonResponse' });

const MoveButtonToRowRequest = z
  .object({ target_row_id: z.string(), position: z.int().min(0).nullish() })
  .meta({ id: 'MoveButtonToRowRequest', example: { target_row_id: 'news_row', position: 0 } });

export const MoveButtonToRowInput = withBody(ButtonPath, MoveButtonToRowRequest);

const ReorderButtonsInRowRequest = z
  .object({ ordered_button_ids: z.string().array().min(1) })
  .meta({ id: 'ReorderButtonsInRowRequest', example: { ordered_button_ids: ['menu_balance', 'news'] } });

export const ReorderButtonsInput = withBody(RowPath, ReorderButtonsInRowRequest);

export const ReorderButtonsResponse = z
  .object({ row_id: z.string(), buttons: z.string().array() })
  .meta({ id: 'ReorderButtonsResponse' });

export const SwapButtonsRequest = z
  .object({ button_id_1: z.string(), button_id_2: z.string() })
  .meta({ id: 'SwapButtonsRequest', example: { button_id_1: 'menu_balance', button_id_2: 'news' } });

const SwappedButton = z.object({ id: z.string(), new_row: z.int(), new_position: z.int() });

export const SwapButtonsResponse = z
  .object({ button_1: SwappedButton, button_2: SwappedButton })
  .meta({ id: 'SwapButtonsResponse' });

export const AvailableCallbacksResponse = z
  .object({
    items: z
      .object({
        callback_data: z.string(),
        name: z.string(),
        description: z.string().nullish(),
        category: z.string(),
        default_text: TextByLanguage.nullish(),
        default_icon: z.string().nullish(),
        requires_subscription: z.boolean().default(false),
        is_in_menu: z.boolean().default(false),
      })
      .meta({ id: 'AvailableCallback' })
      .array(),
    total: z.int(),
    categories: z.string().array(),
  })
  .meta({ id: 'AvailableCallbacksResponse' });

export const DynamicPlaceholdersResponse = z
  .object({
    items: z
      .object({ placeholder: z.string(), description: z.string(), example: z.string(), category: z.string() })
      .meta({ id: 'DynamicPlaceholder' })
      .array(),
    total: z.int(),
  })
  .meta({ id: 'DynamicPlaceholdersResponse' });

export const MenuLayoutExportResponse = z
  .object({
    version: z.int(),
    rows: MenuRowConfig.array(),
    buttons: Buttons,
    exported_at: Moment,
    bot_version: z.string().nullish(),
  })
  .meta({ id: 'MenuLayoutExportResponse' });

export const MenuLayoutImportRequest = z
  .object({
    version: z.int(),
    rows: MenuRowConfig.array(),
    buttons: Buttons,
    merge_mode: z.enum(['replace', 'merge']).default('replace'),
  })
  .meta({ id: 'MenuLayoutImportRequest' });

export const MenuLayoutImportResponse = z
  .object({
    success: z.boolean(),
    imported_rows: z.int(),
    imported_buttons: z.int(),
    warnings: z.string().array().default([]),
  })
  .meta({ id: 'MenuLayoutImportResponse' });

export const MenuLayoutValidateRequest = z
  .object({ rows: MenuRowConfig.array().nullish(), buttons: Buttons.nullish() })
  .meta({ id: 'MenuLayoutValidateRequest' });

const LayoutFinding = z.object({ field: z.string(), message: z.string(), severity: z.string() }).meta({ id: 'ValidationError' });

export const MenuLayoutValidateResponse = z
  .object({ is_valid: z.boolean(), errors: LayoutFinding.array().default([]), warnings: LayoutFinding.array().default([]) })
  .meta({ id: 'MenuLayoutValidateResponse' });

export const HistoryQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
});

export const MenuLayoutHistoryResponse = z
  .object({
    items: z
      .object({
        id: z.int(),
        created_at: Moment,
        action: z.string(),
        changes_summary: z.string(),
        user_info: z.string().nullish(),
      })
      .meta({ id: 'MenuLayoutHistoryEntry' })
      .array(),
    total: z.int(),
  })
  .meta({ id: 'MenuLayoutHistoryResponse' });

export const HistoryPath = z.object({ history_id: z.int() });

export const HistoryEntryResponse = z.object({
  id: z.int(),
  action: z.string(),
  changes_summary: z.string(),
  user_info: z.string().nullable(),
  created_at: Moment.nullable(),
  config: z.object({ version: z.int(), rows: MenuRowConfig.array(), buttons: Buttons }),
});
