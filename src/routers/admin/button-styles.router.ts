import {
  buttonLookInvalid,
  changeButtonLooks,
  readButtonLooks,
  resetButtonLooks,
  type SectionLooks,
} from '../../domain/content/menu-layout/cabinet-menu.ts';
import { adminProcedure, router } from '../trpc.ts';
import { ButtonStylesResponse, ButtonStylesUpdate } from './button-styles.schemas.ts';

const tags: [string] = ['Admin Button Styles'];
const path = '/cabinet/admin/button-styles';

/** The answer leaves out the language button, which the administration does not style. */
const answer = (looks: SectionLooks) =>
  Object.fromEntries(Object.entries(looks).map(([section, look]) => [section, { ...look, labels: { ...look.labels } }]));

export const adminButtonStylesRouter = router({
  get: adminProcedure('settings:read')
    .meta({
      openapi: { method: 'GET', path, tags, summary: 'Read the styles of the menu buttons' },
      description: 'Returns the styles of the seven sections of the menu in cabinet mode.',
    })
    .output(ButtonStylesResponse)
    .query(async ({ ctx }) => answer(await readButtonLooks(ctx.app))),

  update: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'PATCH', path, tags, summary: 'Change the styles of menu buttons' },
      description:
        'Changes the given fields of the given sections; absent and null ones remain, `labels` is replaced as a whole. If one is invalid, nothing is changed. The chat shows it from the next message on.',
      refuses: [buttonLookInvalid],
    })
    .input(ButtonStylesUpdate)
    .output(ButtonStylesResponse)
    .mutation(async ({ ctx, input }) => answer(await changeButtonLooks(ctx.app, input))),

  reset: adminProcedure('settings:edit')
    .meta({
      openapi: { method: 'POST', path: `${path}/reset`, tags, summary: 'Reset the styles of the menu buttons' },
      description: 'Resets the styles of all sections, that of the language button too. Rows and buttons of your own remain.',
    })
    .output(ButtonStylesResponse)
    .mutation(async ({ ctx }) => answer(await resetButtonLooks(ctx.app))),
});
