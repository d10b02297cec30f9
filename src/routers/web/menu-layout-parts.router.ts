import { z } from 'zod';
import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { editLayout } from '../../domain/content/menu-layout/edit-layout.ts';
import * as edits from '../../domain/content/menu-layout/edits.ts';
import {
  buttonNotFound,
  menuActionInvalid,
  menuButtonAtEdge,
  menuButtonBuiltin,
  menuButtonExists,
  menuButtonId,
  menuButtonNotPlaced,
  menuButtonsMismatch,
  menuButtonsRepeated,
  menuButtonType,
  menuRowExists,
  menuRowsRepeated,
  menuSwapSame,
  rowNotFound,
} from '../../domain/content/menu-layout/edits.ts';
import { readButton, readConditions, readRow } from '../../domain/content/menu-layout/layout.ts';
import { type MenuDocument, OPEN_MODES } from '../../domain/content/menu-layout/types.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  ButtonConditions,
  ButtonKind,
  MenuButtonConfig,
  MenuRowConfig,
  rowFields,
  TextByLanguage,
  VisibilityName,
} from './menu-layout.schemas.ts';
import { toDocument } from './menu-layout-answers.ts';

/** Contract group `menu-layout`: edits of single rows and buttons. */

const ButtonPath = z.object({ button_id: z.string().describe('Id of the button.') });
const RowPath = z.object({ row_id: z.string().describe('Id of the row.') });

const ButtonUpdateRequest = z
  .object({
    text: TextByLanguage.nullish().describe('Text by language; null leaves it unchanged.'),
    icon: z
      .string()
      .max(10)
      .nullish()
      .describe('Emoji before the text; an explicit null removes it, absent leaves it unchanged.'),
    enabled: z.boolean().nullish().describe('Whether the menu can show the button; null leaves it unchanged.'),
    visibility: VisibilityName.nullish().describe(
      'Who sees the button: `all`, `admins`, `moderators` or `subscribers`; null leaves it unchanged.',
    ),
    conditions: ButtonConditions.nullish().describe(
      'Conditions under which it is shown; null removes them, absent leaves them unchanged.',
    ),
    action: z.string().nullish().describe('Callback data or address; null leaves it unchanged.'),
    dynamic_text: z
      .boolean()
      .nullish()
      .describe('Whether placeholders such as `{balance}` in the text are replaced; null leaves it unchanged.'),
    open_mode: z
      .enum(OPEN_MODES)
      .nullish()
      .describe('How a built-in button opens: `callback` in the chat, `direct` as web app; null leaves it unchanged.'),
    webapp_url: z
      .string()
      .nullish()
      .describe('Address of the web app for `direct`; null removes it, absent leaves it unchanged.'),
    description: z.string().max(200).nullish().describe('Note for editors; null removes it, absent leaves it unchanged.'),
    sort_order: z.int().nullish().describe('Place in lists of buttons; absent leaves it unchanged, null removes it.'),
  })
  .meta({ id: 'ButtonUpdateRequest', example: { text: { en: 'News' }, icon: '📰', enabled: true } });

const ButtonUpdateInput = withBody(ButtonPath, ButtonUpdateRequest);

const RowsReorderRequest = z
  .object({
    ordered_ids: z
      .string()
      .array()
      .min(1)
      .describe('Ids of the rows in the wanted order; rows that are missing follow in their old order.'),
  })
  .meta({ id: 'RowsReorderRequest', example: { ordered_ids: ['news_row', 'balance_row'] } });

const AddRowRequest = z
  .object({ ...rowFields, position: z.int().min(0).nullish().describe('Place of the row from 0; null for the end.') })
  .meta({ id: 'AddRowRequest', example: { id: 'news_row', buttons: [], max_per_row: 1 } });

const AddCustomButtonRequest = z
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

const MoveButtonResponse = z
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

const MoveButtonToRowInput = withBody(ButtonPath, MoveButtonToRowRequest);

const ReorderButtonsInRowRequest = z
  .object({ ordered_button_ids: z.string().array().min(1).describe('Ids of all buttons of the row in the wanted order.') })
  .meta({ id: 'ReorderButtonsInRowRequest', example: { ordered_button_ids: ['menu_balance', 'news'] } });

const ReorderButtonsInput = withBody(RowPath, ReorderButtonsInRowRequest);

const ReorderButtonsResponse = z
  .object({
    row_id: z.string().describe('Id of the row.'),
    buttons: z.string().array().describe('Ids of the buttons of the row in the new order.'),
  })
  .meta({ id: 'ReorderButtonsResponse' });

const SwapButtonsRequest = z
  .object({
    button_id_1: z.string().describe('Id of the first button.'),
    button_id_2: z.string().describe('Id of the second button.'),
  })
  .meta({ id: 'SwapButtonsRequest', example: { button_id_1: 'menu_balance', button_id_2: 'news' } });

const newPlace = {
  new_row: z.int().describe('Number of the row from 0.'),
  new_position: z.int().describe('Place in the row from 0.'),
};

const SwapButtonsResponse = z
  .object({
    button_1: z
      .object({ id: z.string().describe('Id of the first button.'), ...newPlace })
      .describe('Where the first button is afterwards.'),
    button_2: z
      .object({ id: z.string().describe('Id of the second button.'), ...newPlace })
      .describe('Where the second button is afterwards.'),
  })
  .meta({ id: 'SwapButtonsResponse' });

const tags: [string] = ['menu-layout'];

/** One step on the stored document; the answer is the document after it. */
async function edited(app: App, actor: Actor, summary: string, change: (document: MenuDocument) => MenuDocument) {
  const { document } = await editLayout(app, actor, { action: 'update', summary, change });
  return toDocument(document);
}

/** Single rows and buttons of the layout (spec 05 section 7.3). */
export const menuLayoutPartsRouter = router({
  updateButton: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/menu-layout/buttons/{button_id}', tags, summary: 'Change a button' },
      description:
        'Changes a button. Null leaves text, action and switches as they are, and clears icon, conditions, description, place and web app address. The action of a built-in button changes only together with `open_mode` `direct`.',
      refuses: [menuActionInvalid, buttonNotFound],
    })
    .input(ButtonUpdateInput)
    .output(MenuButtonConfig)
    .mutation(async ({ ctx, input: { button_id, ...input } }) => {
      const changes = { ...input, conditions: input.conditions === undefined ? undefined : readConditions(input.conditions) };
      const { buttons } = await edited(ctx.app, ctx.actor, `Changed button '${button_id}'`, (document) =>
        edits.updateButton(document, button_id, changes),
      );
      return buttons[button_id]!;
    }),

  addButton: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/buttons', tags, summary: 'Add a custom button' },
      description: 'Adds a button of type `url`, `mini_app` or `callback`, at the end of a row if one is named.',
      refuses: [menuActionInvalid, menuButtonExists, menuButtonId, menuButtonType, rowNotFound],
    })
    .input(AddCustomButtonRequest)
    .output(MenuButtonConfig)
    .mutation(async ({ ctx, input: { id, row_id, ...fields } }) => {
      const { buttons } = await edited(ctx.app, ctx.actor, `Added button '${id}'`, (document) =>
        edits.addButton(document, id, readButton(fields), row_id ?? null),
      );
      return buttons[id]!;
    }),

  deleteButton: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/menu-layout/buttons/{button_id}', tags, summary: 'Delete a custom button' },
      description:
        'Deletes a button of your own and removes it from all rows. Built-in buttons cannot be deleted; switch them off instead.',
      refuses: [menuButtonBuiltin, buttonNotFound],
    })
    .input(fromWire(ButtonPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      const id = input.buttonId;
      await edited(ctx.app, ctx.actor, `Deleted button '${id}'`, (document) => edits.deleteButton(document, id));
      return { success: true as const };
    }),

  reorderRows: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/rows/reorder', tags, summary: 'Change the order of the rows' },
      description: 'Changes the order of the rows. Rows that are not named follow in their old order.',
      refuses: [menuRowsRepeated, rowNotFound],
    })
    .input(fromWire(RowsReorderRequest))
    .output(MenuRowConfig.array())
    .mutation(async ({ ctx, input }) => {
      const document = await edited(ctx.app, ctx.actor, 'Changed the order of the rows', (before) =>
        edits.reorderRows(before, input.orderedIds),
      );
      return document.rows;
    }),

  addRow: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/rows', tags, summary: 'Add a row' },
      description: 'Adds a row at a position, or at the end.',
      refuses: [menuRowExists],
    })
    .input(AddRowRequest)
    .output(MenuRowConfig)
    .mutation(async ({ ctx, input: { position, ...fields } }) => {
      const row = readRow(fields);
      await edited(ctx.app, ctx.actor, `Added row '${row.id}'`, (document) => edits.addRow(document, row, position ?? null));
      return toDocument(row);
    }),

  deleteRow: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/menu-layout/rows/{row_id}', tags, summary: 'Delete a row' },
      description: 'Deletes a row. Its buttons stay defined and can be placed again.',
      refuses: [rowNotFound],
    })
    .input(fromWire(RowPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      const id = input.rowId;
      await edited(ctx.app, ctx.actor, `Deleted row '${id}'`, (document) => edits.deleteRow(document, id));
      return { success: true as const };
    }),

  moveButtonUp: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/buttons/{button_id}/move-up', tags, summary: 'Move a button one row up' },
      description: 'Moves a button to the end of the row above. A row that becomes empty is removed.',
      refuses: [menuButtonAtEdge, menuButtonNotPlaced],
    })
    .input(fromWire(ButtonPath))
    .output(toWire(MoveButtonResponse))
    .mutation(({ ctx, input }) => moved(ctx.app, ctx.actor, input.buttonId, 'up')),

  moveButtonDown: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/menu-layout/buttons/{button_id}/move-down',
        tags,
        summary: 'Move a button one row down',
      },
      description: 'Moves a button to the end of the row below. A row that becomes empty is removed.',
      refuses: [menuButtonAtEdge, menuButtonNotPlaced],
    })
    .input(fromWire(ButtonPath))
    .output(toWire(MoveButtonResponse))
    .mutation(({ ctx, input }) => moved(ctx.app, ctx.actor, input.buttonId, 'down')),

  moveButtonToRow: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/buttons/{button_id}/move-to-row', tags, summary: 'Move a button to a row' },
      description: 'Moves a button to a place in a row. A row that becomes empty is removed.',
      refuses: [buttonNotFound, rowNotFound],
    })
    .input(fromWire(MoveButtonToRowInput))
    .output(toWire(MoveButtonResponse))
    .mutation(async ({ ctx, input: { buttonId, targetRowId, position } }) => {
      const { rows } = await edited(ctx.app, ctx.actor, `Moved button '${buttonId}' to row '${targetRowId}'`, (document) =>
        edits.moveButtonToRow(document, buttonId, targetRowId, position ?? null),
      );
      const target = rows.find((row) => row.id === targetRowId)!;
      // The row may have had the button before; the moved one is at the requested position.
      const at = Math.min(position ?? target.buttons.length, target.buttons.length - 1);
      return { buttonId, newRowIndex: null, targetRowId, position: at };
    }),

  reorderButtons: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/rows/{row_id}/reorder-buttons', tags, summary: 'Change the order in a row' },
      description: 'Changes the order of the buttons of a row. All buttons of the row must be named once.',
      refuses: [menuButtonsMismatch, menuButtonsRepeated, rowNotFound],
    })
    .input(fromWire(ReorderButtonsInput))
    .output(toWire(ReorderButtonsResponse))
    .mutation(async ({ ctx, input: { rowId, orderedButtonIds: ids } }) => {
      await edited(ctx.app, ctx.actor, `Changed the order in row '${rowId}'`, (document) =>
        edits.reorderButtons(document, rowId, ids),
      );
      return { rowId, buttons: ids };
    }),

  swapButtons: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/buttons/swap', tags, summary: 'Swap two buttons' },
      description: 'Exchanges the places of two buttons.',
      refuses: [menuSwapSame, buttonNotFound],
    })
    .input(fromWire(SwapButtonsRequest))
    .output(toWire(SwapButtonsResponse))
    .mutation(async ({ ctx, input: { buttonId1: first, buttonId2: second } }) => {
      const document = await edited(ctx.app, ctx.actor, `Swapped buttons '${first}' and '${second}'`, (before) =>
        edits.swapButtons(before, first, second),
      );
      return { button1: placeAnswer(document, first), button2: placeAnswer(document, second) };
    }),
});

async function moved(app: App, actor: Actor, id: string, direction: 'up' | 'down') {
  const document = await edited(app, actor, `Moved button '${id}' ${direction}`, (before) =>
    edits.moveButton(before, id, direction),
  );
  return { buttonId: id, newRowIndex: edits.placeOf(document, id)!.row, targetRowId: null, position: null };
}

function placeAnswer(document: MenuDocument, id: string) {
  const place = edits.placeOf(document, id)!;
  return { id, newRow: place.row, newPosition: place.position };
}
