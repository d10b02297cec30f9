import { z } from 'zod';
import { OPEN_MODES } from '../../domain/content/menu-layout/types.ts';
import { withBody } from '../wire.ts';
import { ButtonConditions, ButtonKind, rowFields, TextByLanguage, VisibilityName } from './menu-layout.schemas.ts';

/** Contract group `menu-layout` (spec 05 section 7): edits of single rows and buttons. */

export const ButtonPath = z.object({ button_id: z.string().describe('Id of the button.') });
export const RowPath = z.object({ row_id: z.string().describe('Id of the row.') });

const ButtonUpdateRequest = z
  .object({
    text: TextByLanguage.nullish().describe('Text by language; null leaves it unchanged.'),
    icon: z
      .string()
      .max(10)
      .nullish()
      .describe('Emoji before the text; an explicit null removes it, absent leaves it unchanged.'),
    enabled: z.boolean().nullish().describe('Whether it is switched on.'),
    visibility: VisibilityName.nullish().describe('Who sees the button: `all`, `admins`, `moderators` or `subscribers`.'),
    conditions: ButtonConditions.nullish().describe('Conditions under which it is shown; null for always.'),
    action: z.string().nullish().describe('Callback data or address; null leaves it unchanged.'),
    dynamic_text: z.boolean().nullish().describe('Whether placeholders such as `{balance}` in the text are replaced.'),
    open_mode: z.enum(OPEN_MODES).nullish().describe('How a built-in button opens: `callback` in the chat, `direct` as web app.'),
    webapp_url: z.string().nullish().describe('Address of the web app for `direct`; null for the default one.'),
    description: z.string().max(200).nullish().describe('Note for editors; an explicit null removes it.'),
    sort_order: z.int().nullish().describe('Place in the list; smaller numbers come first.'),
  })
  .meta({ id: 'ButtonUpdateRequest', example: { text: { en: 'News' }, icon: '📰', enabled: true } });

export const ButtonUpdateInput = withBody(ButtonPath, ButtonUpdateRequest);

export const RowsReorderRequest = z
  .object({
    ordered_ids: z
      .string()
      .array()
      .min(1)
      .describe('Ids of the rows in the wanted order; rows that are missing follow in their old order.'),
  })
  .meta({ id: 'RowsReorderRequest', example: { ordered_ids: ['news_row', 'balance_row'] } });

export const AddRowRequest = z
  .object({ ...rowFields, position: z.int().min(0).nullish().describe('Place of the row from 0; null for the end.') })
  .meta({ id: 'AddRowRequest', example: { id: 'news_row', buttons: [], max_per_row: 1 } });

export const AddCustomButtonRequest = z
  .object({
    id: z.string().min(1).max(50).describe('Id of the button, unique.'),
    type: ButtonKind.describe(
      'Kind of button: `url` (opens an address), `mini_app` or `callback` (calls an action of the chat); `builtin` is refused.',
    ),
    text: TextByLanguage.describe('Text by language.'),
    icon: z.string().max(10).nullish().describe('Emoji or icon name; null or empty when there is none.'),
    action: z.string().min(1).describe('Callback data (up to 64 bytes) or address, by the type of the button.'),
    visibility: VisibilityName.default('all').describe('Who sees the button: `all`, `admins`, `moderators` or `subscribers`.'),
    conditions: ButtonConditions.nullish().describe('Conditions under which it is shown; null for always.'),
    dynamic_text: z.boolean().default(false).describe('Whether placeholders such as `{balance}` in the text are replaced.'),
    row_id: z.string().nullish().describe('Id of the row; null to leave the button without a row.'),
    description: z.string().max(200).nullish().describe('Note for editors, up to 200 characters; null for none.'),
  })
  .meta({
    id: 'AddCustomButtonRequest',
    example: { id: 'news', type: 'url', text: { ru: 'Новости', en: 'News' }, action: 'https://example.com/news' },
  });

export const MoveButtonResponse = z
  .object({
    button_id: z.string().describe('Id of the button.'),
    new_row_index: z.int().nullish().describe('Number of the row from 0; null where the row is named by its id.'),
    target_row_id: z
      .string()
      .nullish()
      .describe('Id of the row that the button is in afterwards; null when only its number is known.'),
    position: z.int().nullish().describe('Place in the row from 0; null when it is the end.'),
  })
  .meta({ id: 'MoveButtonResponse' });

const MoveButtonToRowRequest = z
  .object({
    target_row_id: z.string().describe('Id of the row to move the button to.'),
    position: z.int().min(0).nullish().describe('Place in the row from 0; null for the end.'),
  })
  .meta({ id: 'MoveButtonToRowRequest', example: { target_row_id: 'news_row', position: 0 } });

export const MoveButtonToRowInput = withBody(ButtonPath, MoveButtonToRowRequest);

const ReorderButtonsInRowRequest = z
  .object({ ordered_button_ids: z.string().array().min(1).describe('Ids of all buttons of the row in the wanted order.') })
  .meta({ id: 'ReorderButtonsInRowRequest', example: { ordered_button_ids: ['menu_balance', 'news'] } });

export const ReorderButtonsInput = withBody(RowPath, ReorderButtonsInRowRequest);

export const ReorderButtonsResponse = z
  .object({
    row_id: z.string().describe('Id of the row.'),
    buttons: z.string().array().describe('Ids of the buttons of the row in the new order.'),
  })
  .meta({ id: 'ReorderButtonsResponse' });

export const SwapButtonsRequest = z
  .object({
    button_id_1: z.string().describe('Id of the first button.'),
    button_id_2: z.string().describe('Id of the second button.'),
  })
  .meta({ id: 'SwapButtonsRequest', example: { button_id_1: 'menu_balance', button_id_2: 'news' } });

const newPlace = {
  new_row: z.int().describe('Number of the row from 0.'),
  new_position: z.int().describe('Place in the row from 0.'),
};

export const SwapButtonsResponse = z
  .object({
    button_1: z
      .object({ id: z.string().describe('Id of the first button.'), ...newPlace })
      .describe('Where the first button is afterwards.'),
    button_2: z
      .object({ id: z.string().describe('Id of the second button.'), ...newPlace })
      .describe('Where the second button is afterwards.'),
  })
  .meta({ id: 'SwapButtonsResponse' });
