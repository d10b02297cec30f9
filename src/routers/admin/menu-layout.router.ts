import {
  cabinetMenuInvalid,
  type FilledRow,
  readCabinetLayout,
  resetCabinetLayout,
  saveCabinetLayout,
} from '../../domain/content/menu-layout/cabinet-menu.ts';
import { adminProcedure, router } from '../trpc.ts';
import { MenuConfigResponse, MenuConfigUpdateRequest } from './menu-layout.schemas.ts';

const tags: [string] = ['Admin Menu Layout'];
const path = '/cabinet/admin/menu-layout';

function toConfig(rows: readonly FilledRow[]) {
  return {
    rows: rows.map((row) => ({
      ...row,
      buttons: row.buttons.map((button) => ({ ...button, labels: { ...button.labels } })),
    })),
  };
}

export const adminMenuLayoutRouter = router({
  get: adminProcedure('settings:read')
    .meta({
      openapi: { method: 'GET', path, tags, summary: 'Read the menu of the cabinet mode' },
      description: 'Returns the menu of the chat in cabinet mode, with the styles of its buttons.',
    })
    .output(MenuConfigResponse)
    .query(async ({ ctx }) => toConfig(await readCabinetLayout(ctx.app))),

  update: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'PUT', path, tags, summary: 'Replace the menu of the cabinet mode' },
      description:
        'Replaces the menu of the chat in cabinet mode. It is checked as a whole; the chat shows it from the next message on.',
      refuses: [cabinetMenuInvalid],
    })
    .input(MenuConfigUpdateRequest)
    .output(MenuConfigResponse)
    .mutation(async ({ ctx, input }) => {
      const rows = input.rows.map((row) => ({
        ...row,
        buttons: row.buttons.map((button) => ({ ...button, url: button.url ?? null })),
      }));
      return toConfig(await saveCabinetLayout(ctx.app, rows));
    }),

  reset: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'POST', path: `${path}/reset`, tags, summary: 'Reset menu and styles to the defaults' },
      description: 'Resets the menu and the styles of its buttons to their defaults.',
    })
    .output(MenuConfigResponse)
    .mutation(async ({ ctx }) => toConfig(await resetCabinetLayout(ctx.app))),
});
