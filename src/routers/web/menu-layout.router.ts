import { buildMenu, previewContext } from '../../domain/content/menu-layout/build-menu.ts';
import { CHAT_CALLBACKS, PLACEHOLDERS } from '../../domain/content/menu-layout/callback-catalogue.ts';
import { editLayout, resetLayout, rollbackLayout } from '../../domain/content/menu-layout/edit-layout.ts';
import { importLayout, replaceParts } from '../../domain/content/menu-layout/edits.ts';
import {
  BUILTIN_BUTTONS,
  historyNotFound,
  listHistory,
  readButtons,
  readHistoryEntry,
  readLayout,
  readRow,
  validateLayout,
} from '../../domain/content/menu-layout/layout.ts';
import { BOUND_CONDITIONS, FLAG_CONDITIONS, GROUP_CONDITIONS } from '../../domain/content/menu-layout/types.ts';
import { auditedWebProcedure, router, unaudited, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  AvailableCallbacksResponse,
  BuiltinButtonsListResponse,
  DynamicPlaceholdersResponse,
  HistoryEntryResponse,
  HistoryPath,
  HistoryQuery,
  MenuLayoutExportResponse,
  MenuLayoutHistoryResponse,
  MenuLayoutImportRequest,
  MenuLayoutImportResponse,
  MenuLayoutResponse,
  MenuLayoutUpdateRequest,
  MenuLayoutValidateRequest,
  MenuLayoutValidateResponse,
  MenuPreviewRequest,
  MenuPreviewResponse,
} from './menu-layout.schemas.ts';
import { toDocument, toLayout } from './menu-layout-answers.ts';

const tags: [string] = ['menu-layout'];

/** All keys of conditions, unset: clients read each of them (spec 10 R2). */
const NO_CONDITIONS = Object.fromEntries(
  [...FLAG_CONDITIONS, ...BOUND_CONDITIONS, ...GROUP_CONDITIONS].map((name) => [name, null]),
);

/**
 * The layout as a whole; single rows and buttons are in `menu-layout-parts.router.ts`. Documents are named on the wire as they are stored,
 * so answers with documents do not pass the codec.
 */
export const menuLayoutRouter = router({
  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout', tags, summary: "Read the chat menu's layout" },
      description: 'Returns the layout of the chat menu, or the default one while nothing is stored.',
    })
    .output(MenuLayoutResponse)
    .query(async ({ ctx }) => toLayout(ctx.app, await readLayout(ctx.app))),

  replace: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'PUT', path: '/menu-layout', tags, summary: 'Replace the rows, the buttons or both' },
      description:
        'Replaces the rows, the buttons or both. The result is checked as a whole. The chat shows it from the next message on, and the edit is recorded in the history.',
    })
    .input(MenuLayoutUpdateRequest)
    .output(MenuLayoutResponse)
    .mutation(async ({ ctx, input }) => {
      const parts = { rows: input.rows?.map(readRow) ?? null, buttons: input.buttons ? readButtons(input.buttons) : null };
      const given = [parts.rows && `${parts.rows.length} rows`, parts.buttons && `${Object.keys(parts.buttons).length} buttons`];
      const layout = await editLayout(ctx.app, ctx.actor, {
        action: 'update',
        summary: `Replaced by ${given.filter(Boolean).join(' and ') || 'nothing'}`,
        change: (document) => replaceParts(document, parts),
      });
      return toLayout(ctx.app, layout);
    }),

  reset: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/reset', tags, summary: 'Restore the default layout' },
      description: 'Replaces the stored layout by the default one and records the edit.',
    })
    .output(MenuLayoutResponse)
    .mutation(async ({ ctx }) => toLayout(ctx.app, await resetLayout(ctx.app, ctx.actor))),

  builtinButtons: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/builtin-buttons', tags, summary: 'List the built-in buttons' },
      description: 'Lists the built-in buttons with their defaults.',
    })
    .output(BuiltinButtonsListResponse)
    .query(() => {
      const items = BUILTIN_BUTTONS.map((button) => ({
        id: button.id,
        default_text: button.defaultText,
        callback_data: button.callbackData,
        default_conditions: button.defaultConditions && { ...NO_CONDITIONS, ...toDocument(button.defaultConditions) },
        supports_dynamic_text: button.supportsDynamicText,
        supports_direct_open: button.supportsDirectOpen,
      }));
      return { items, total: items.length };
    }),

  preview: unaudited('Changes nothing.', webProcedure)
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/preview', tags, summary: 'Preview the menu of a user' },
      description: 'Returns the menu that a user with the given properties would see. Stores nothing.',
    })
    .input(fromWire(MenuPreviewRequest))
    .output(toWire(MenuPreviewResponse))
    .mutation(async ({ ctx, input }) => {
      const { document } = await readLayout(ctx.app);
      const rows = buildMenu(document, previewContext(ctx.app, input)).map((buttons) => ({ buttons }));
      return { rows, totalButtons: rows.reduce((sum, row) => sum + row.buttons.length, 0) };
    }),

  availableCallbacks: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/available-callbacks', tags, summary: 'List the actions of buttons' },
      description: 'Lists what buttons of type `callback` can call, and which of these the layout uses.',
    })
    .output(toWire(AvailableCallbacksResponse))
    .query(async ({ ctx }) => {
      const { document } = await readLayout(ctx.app);
      const used = new Set(Object.values(document.buttons).map((button) => button.action));
      const items = CHAT_CALLBACKS.map((callback) => ({
        ...callback,
        description: null,
        isInMenu: used.has(callback.callbackData),
      }));
      return { items, total: items.length, categories: [...new Set(items.map((item) => item.category))].sort() };
    }),

  placeholders: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/placeholders', tags, summary: 'List the placeholders of texts' },
      description: 'Lists the placeholders that texts with `dynamic_text` may contain.',
    })
    .output(DynamicPlaceholdersResponse)
    .query(() => ({ items: [...PLACEHOLDERS], total: PLACEHOLDERS.length })),

  export: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/export', tags, summary: 'Export the layout' },
      description: 'Returns the layout for an import elsewhere.',
    })
    .output(MenuLayoutExportResponse)
    .query(async ({ ctx }) => {
      const { document } = await readLayout(ctx.app);
      return {
        ...toDocument(document),
        exported_at: ctx.app.clock.now(),
        bot_version: ctx.app.ports.instance.version(),
      };
    }),

  import: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/import', tags, summary: 'Import a layout' },
      description:
        'Imports an exported layout: it replaces the stored one, or adds the rows and buttons that are missing. Existing rows and buttons are skipped with a warning. The edit is recorded.',
    })
    .input(MenuLayoutImportRequest)
    .output(MenuLayoutImportResponse)
    .mutation(async ({ ctx, input }) => {
      const incoming = { version: input.version, rows: input.rows.map(readRow), buttons: readButtons(input.buttons) };
      const size = { imported_rows: incoming.rows.length, imported_buttons: Object.keys(incoming.buttons).length };
      const { before } = await editLayout(ctx.app, ctx.actor, {
        action: 'import',
        summary: `Imported ${size.imported_rows} rows and ${size.imported_buttons} buttons (${input.merge_mode})`,
        change: (document) => importLayout(document, incoming, input.merge_mode).document,
      });
      return { success: true, ...size, warnings: importLayout(before, incoming, input.merge_mode).warnings };
    }),

  validate: unaudited('Changes nothing.', webProcedure)
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/validate', tags, summary: 'Check a layout without saving it' },
      description: 'Checks the given layout, or the stored one when the body is empty. Stores nothing.',
      wire: { bodyOptional: true },
    })
    .input(MenuLayoutValidateRequest)
    .output(MenuLayoutValidateResponse)
    .mutation(async ({ ctx, input }) => {
      const isEmpty = !input.rows && !input.buttons;
      const given = { rows: input.rows?.map(readRow) ?? [], buttons: readButtons(input.buttons ?? {}) };
      const { errors, warnings } = validateLayout(isEmpty ? (await readLayout(ctx.app)).document : given);
      return { is_valid: errors.length === 0, errors, warnings };
    }),

  history: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/history', tags, summary: 'List the edits of the layout' },
      description: 'Lists the edits of the layout, newest first.',
    })
    .input(HistoryQuery)
    .output(toWire(MenuLayoutHistoryResponse))
    .query(({ ctx, input }) => listHistory(ctx.app, input)),

  historyEntry: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/history/{history_id}', tags, summary: 'Read the layout of an edit' },
      description: 'Returns an edit with the whole layout after it.',
      refuses: [historyNotFound],
    })
    .input(fromWire(HistoryPath))
    .output(HistoryEntryResponse)
    .query(async ({ ctx, input }) => {
      const { id, action, changesSummary, userInfo, createdAt, config } = await readHistoryEntry(ctx.app, input.historyId);
      const edit = { id, action, changes_summary: changesSummary, user_info: userInfo, created_at: createdAt };
      return { ...edit, config: toDocument(config) };
    }),

  rollback: auditedWebProcedure('menu_layout:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/menu-layout/history/{history_id}/rollback',
        tags,
        summary: 'Restore the layout of an edit',
      },
      description: 'Restores the layout of an edit. The layout before it is recorded as `rollback_backup`.',
      refuses: [historyNotFound],
    })
    .input(fromWire(HistoryPath))
    .output(MenuLayoutResponse)
    .mutation(async ({ ctx, input }) => toLayout(ctx.app, await rollbackLayout(ctx.app, ctx.actor, input.historyId))),
});
