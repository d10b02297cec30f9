import { z } from 'zod';
import {
  type BoundCondition,
  BUTTON_TYPES,
  type FlagCondition,
  type GroupCondition,
  OPEN_MODES,
  VISIBILITIES,
} from '../../domain/content/menu-layout/types.ts';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `menu-layout`: documents and history; edits of rows and buttons are in `menu-layout-parts.router.ts`. */

const condition = z.boolean().nullish();
const flag = (when: string) => condition.describe(`${when} Only \`true\` restricts; null and false do not.`);
const bound = (when: string) => z.int().min(0).nullish().describe(`${when}; null for no bound.`);

export const ButtonConditions = z
  .object({
    has_active_subscription: flag('The user has a subscription.'),
    subscription_is_active: flag('The subscription gives access now.'),
    has_traffic_limit: flag('The subscription is paid and has a traffic limit.'),
    is_admin: condition.describe(
      'Whether the user is an administrator. In conditions: only `true` restricts; null and false do not.',
    ),
    is_moderator: flag('The user is a moderator and no administrator.'),
    referral_enabled: flag('The referral programme is switched on.'),
    contests_visible: flag('The contests button is switched on.'),
    support_enabled: flag('The support menu is switched on.'),
    language_selection_enabled: flag('The choice of language is switched on.'),
    happ_enabled: flag('Downloads of the Happ app are switched on.'),
    simple_subscription_enabled: flag('The simple purchase is switched on.'),
    show_trial: flag('The user never paid and has no active subscription.'),
    show_buy: flag('The user has no active subscription.'),
    has_saved_cart: flag('The user has a saved order.'),
    has_referrals: flag('The user has referrals.'),
    is_trial_user: flag('The subscription is a trial.'),
    has_autopay: flag('Automatic renewal is on.'),
    min_balance_kopeks: bound('The balance is at least this, kopeks'),
    max_balance_kopeks: bound('The balance is at most this, kopeks'),
    min_registration_days: bound('The account is at least this many days old'),
    max_registration_days: bound('The account is at most this many days old'),
    min_referrals: bound('The user has at least this many referrals'),
    has_subscription_days_left: bound('The subscription has at least this many whole days left'),
    max_subscription_days_left: bound('The subscription has at most this many whole days left'),
    promo_group_ids: z
      .string()
      .array()
      .nullish()
      .describe('The promo group of the user is one of these; null or empty for no bound.'),
    exclude_promo_group_ids: z
      .string()
      .array()
      .nullish()
      .describe('The promo group of the user is none of these; null or empty for no bound.'),
  } satisfies Record<FlagCondition | BoundCondition | GroupCondition, z.ZodType>)
  .meta({ id: 'ButtonConditions' });

export const rowFields = {
  id: z.string().min(1).max(50).describe('Id of the row, up to 50 characters, unique.'),
  buttons: z.string().array().describe('Ids of the buttons of the row, in their order.'),
  conditions: ButtonConditions.nullish().describe('Conditions under which it is shown; null for always.'),
  max_per_row: z.int().min(1).max(4).default(2).describe('Buttons side by side; further ones go to the next line.'),
};

export const ButtonKind = z.enum(BUTTON_TYPES);
export const VisibilityName = z.enum(VISIBILITIES);
export const TextByLanguage = z.record(z.string(), z.string());

export const MenuRowConfig = z
  .object(rowFields)
  .meta({ id: 'MenuRowConfig', example: { id: 'news_row', buttons: ['news'], max_per_row: 1 } });

export const MenuButtonConfig = z
  .object({
    type: ButtonKind.describe(
      'Kind of button: `builtin` (of the service), `url` (opens an address), `mini_app` or `callback` (calls an action of the chat).',
    ),
    builtin_id: z.string().nullish().describe('Id of the built-in button; null for a button of your own.'),
    text: TextByLanguage.describe('Text by language.'),
    icon: z.string().max(10).nullish().describe('Emoji before the text, up to 10 characters; null for none.'),
    action: z.string().describe('Callback data or address, by the type of the button.'),
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether the menu shows the button to those whom its visibility and conditions allow.'),
    visibility: VisibilityName.default('all').describe('Who sees the button: `all`, `admins`, `moderators` or `subscribers`.'),
    conditions: ButtonConditions.nullish().describe('Conditions under which it is shown; null for always.'),
    dynamic_text: z.boolean().default(false).describe('Whether placeholders such as `{balance}` in the text are replaced.'),
    open_mode: z
      .enum(OPEN_MODES)
      .default('callback')
      .describe('How a built-in button opens: `callback` in the chat, `direct` as web app.'),
    webapp_url: z.string().nullish().describe('Address of the web app for `direct`; null for the default one.'),
    description: z.string().max(200).nullish().describe('Note for editors, up to 200 characters; null for none.'),
    sort_order: z.int().nullish().describe('Place in lists of buttons; null for none.'),
  })
  .meta({
    id: 'MenuButtonConfig',
    example: { type: 'url', text: { ru: 'Новости', en: 'News' }, action: 'https://example.com/news' },
  });

const Buttons = z.record(z.string(), MenuButtonConfig);

export const MenuLayoutResponse = z
  .object({
    version: z.int().describe('Version of the document; increases with each saved change.'),
    rows: MenuRowConfig.array().describe('Rows from top to bottom.'),
    buttons: Buttons.describe('Buttons by id.'),
    is_enabled: z
      .boolean()
      .describe(
        'Whether the chat menu is built from this layout (setting `MENU_LAYOUT_ENABLED`). Edits are possible either way.',
      ),
    updated_at: Timestamp.nullish().describe('When the layout was last saved (UTC); null while it is the built-in one.'),
  })
  .meta({ id: 'MenuLayoutResponse' });

export const MenuLayoutUpdateRequest = z
  .object({
    rows: MenuRowConfig.array().nullish().describe('New rows; null leaves them unchanged.'),
    buttons: Buttons.nullish().describe('New buttons; null leaves them unchanged.'),
  })
  .meta({ id: 'MenuLayoutUpdateRequest' });

export const BuiltinButtonsListResponse = z
  .object({
    items: z
      .object({
        id: z.string().describe('Id of the built-in button.'),
        default_text: TextByLanguage.describe('Default text by language.'),
        callback_data: z.string().describe('Callback data of the button.'),
        default_conditions: ButtonConditions.nullish().describe('Conditions of the default layout; null for none.'),
        supports_dynamic_text: z.boolean().default(false).describe('Whether placeholders are of use in the text.'),
        supports_direct_open: z.boolean().default(false).describe('Whether the button can open a web app directly.'),
      })
      .meta({ id: 'BuiltinButtonInfo' })
      .array()
      .describe('Built-in buttons with their defaults.'),
    total: z.int().describe('Number of built-in buttons.'),
  })
  .meta({ id: 'BuiltinButtonsListResponse' });

export const MenuPreviewRequest = z
  .object({
    language: z.string().default('ru').describe('Two-letter language code, for example `ru` or `en`.'),
    is_admin: z.boolean().default(false).describe('Whether the assumed user is an administrator.'),
    is_moderator: z.boolean().default(false).describe('Whether the assumed user is a moderator.'),
    has_active_subscription: z.boolean().default(false).describe('Whether the assumed user has a subscription.'),
    subscription_is_active: z.boolean().default(false).describe('Whether the assumed subscription gives access.'),
    balance_kopeks: z.int().min(0).default(0).describe('Balance that the preview assumes, in kopeks.'),
  })
  .meta({ id: 'MenuPreviewRequest' });

export const MenuPreviewResponse = z
  .object({
    rows: z
      .object({
        buttons: z
          .object({
            text: z.string().describe('Text in the language of the assumed user.'),
            action: z.string().describe('Callback data or address.'),
            type: ButtonKind.describe('Kind of button: `builtin`, `url`, `mini_app` or `callback`.'),
          })
          .meta({ id: 'MenuPreviewButton' })
          .array()
          .describe('Buttons of the row that the user would see.'),
      })
      .meta({ id: 'MenuPreviewRow' })
      .array()
      .describe('Rows from top to bottom.'),
    total_buttons: z.int().describe('Number of buttons that the user would see.'),
  })
  .meta({ id: 'MenuPreviewResponse' });

export const AvailableCallbacksResponse = z
  .object({
    items: z
      .object({
        callback_data: z.string().describe('Callback data of the button.'),
        name: z.string().describe('Name of the action for administrators.'),
        description: z.string().nullish().describe('What the action does; null when nothing is said.'),
        category: z.string().describe('Category.'),
        default_text: TextByLanguage.nullish().describe('Default text by language; null for none.'),
        default_icon: z.string().nullish().describe('Default emoji; null for none.'),
        requires_subscription: z.boolean().default(false).describe('Whether it is of use only with a subscription.'),
        is_in_menu: z.boolean().default(false).describe('Whether a button of the layout calls it.'),
      })
      .meta({ id: 'AvailableCallback' })
      .array()
      .describe('Actions that buttons of type `callback` can call.'),
    total: z.int().describe('Number of actions in the answer.'),
    categories: z.string().array().describe('All categories, in alphabetical order.'),
  })
  .meta({ id: 'AvailableCallbacksResponse' });

export const DynamicPlaceholdersResponse = z
  .object({
    items: z
      .object({
        placeholder: z.string().describe('The placeholder, with braces.'),
        description: z.string().describe('What the placeholder is replaced by.'),
        example: z.string().describe('Example of a value.'),
        category: z.string().describe('Category.'),
      })
      .meta({ id: 'DynamicPlaceholder' })
      .array()
      .describe('Placeholders that texts with `dynamic_text` may contain.'),
    total: z.int().describe('Number of placeholders.'),
  })
  .meta({ id: 'DynamicPlaceholdersResponse' });

export const MenuLayoutExportResponse = z
  .object({
    version: z.int().describe('Version of the document; increases with each saved change.'),
    rows: MenuRowConfig.array().describe('Rows from top to bottom.'),
    buttons: Buttons.describe('Buttons by id.'),
    exported_at: Timestamp.describe('When the export was made (UTC).'),
    bot_version: z.string().nullish().describe('Release of the service; null when unknown.'),
  })
  .meta({ id: 'MenuLayoutExportResponse' });

export const MenuLayoutImportRequest = z
  .object({
    version: z.int().describe('Version of the exported document.'),
    rows: MenuRowConfig.array().describe('Rows from top to bottom.'),
    buttons: Buttons.describe('Buttons by id.'),
    merge_mode: z
      .enum(['replace', 'merge'])
      .default('replace')
      .describe('`replace` puts the import in place of the layout; `merge` adds unknown rows and buttons only.'),
  })
  .meta({ id: 'MenuLayoutImportRequest' });

export const MenuLayoutImportResponse = z
  .object({
    success: z.boolean().describe('Always true: what is not imported is named in `warnings`.'),
    imported_rows: z.int().describe('Number of rows in the import, skipped ones included.'),
    imported_buttons: z.int().describe('Number of buttons in the import, skipped ones included.'),
    warnings: z.string().array().default([]).describe('What was skipped or looks wrong; empty for nothing.'),
  })
  .meta({ id: 'MenuLayoutImportResponse' });

export const MenuLayoutValidateRequest = z
  .object({
    rows: MenuRowConfig.array()
      .nullish()
      .describe('Rows to check; null for none, or for the stored layout when both halves are null.'),
    buttons: Buttons.nullish().describe('Buttons to check; null for none, or for the stored layout when both halves are null.'),
  })
  .meta({ id: 'MenuLayoutValidateRequest' });

const LayoutFinding = z
  .object({
    field: z.string().describe('Place of the problem, for example `rows.main.buttons`.'),
    message: z.string().describe('Description of the problem.'),
    severity: z.string().describe('`error` or `warning`.'),
  })
  .meta({ id: 'ValidationError' });

export const MenuLayoutValidateResponse = z
  .object({
    is_valid: z.boolean().describe('Whether there are no errors. Warnings do not count.'),
    errors: LayoutFinding.array().default([]).describe('Problems because of which the layout cannot be saved.'),
    warnings: LayoutFinding.array().default([]).describe('What was skipped or looks wrong; empty for nothing.'),
  })
  .meta({ id: 'MenuLayoutValidateResponse' });

export const HistoryQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

export const MenuLayoutHistoryResponse = z
  .object({
    items: z
      .object({
        id: z.int().describe('Id of the edit of the layout.'),
        created_at: Timestamp.describe('When the layout was edited (UTC).'),
        action: z.string().describe('`update`, `reset`, `import`, `rollback_backup` or `rollback`.'),
        changes_summary: z.string().describe('Short summary of the edit.'),
        user_info: z.string().nullish().describe('Who made the edit: name of the API token; null when unknown.'),
      })
      .meta({ id: 'MenuLayoutHistoryEntry' })
      .array()
      .describe('A page of edits of the menu layout, newest first.'),
    total: z.int().describe('Number of edits of the menu layout, on all pages.'),
  })
  .meta({ id: 'MenuLayoutHistoryResponse' });

export const HistoryPath = z.object({ history_id: z.int().describe('Id of the edit.') });

export const HistoryEntryResponse = z.object({
  id: z.int().describe('Id of the edit of the layout.'),
  action: z.string().describe('`update`, `reset`, `import`, `rollback_backup` or `rollback`.'),
  changes_summary: z.string().describe('Short summary of the edit.'),
  user_info: z.string().nullable().describe('Who made the edit: name of the API token; null when unknown.'),
  created_at: Timestamp.nullable().describe('When the layout was edited (UTC).'),
  config: z
    .object({
      version: z.int().describe('Version of the document; increases with each saved change.'),
      rows: MenuRowConfig.array().describe('Rows from top to bottom.'),
      buttons: Buttons.describe('Buttons by id.'),
    })
    .describe('The layout after the edit.'),
});
