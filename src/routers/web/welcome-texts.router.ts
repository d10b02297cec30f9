import { MESSENGER_TEXT_REFUSALS } from '../../domain/content/chat-texts/chat-menu.ts';
import {
  createWelcomeText,
  deleteWelcomeText,
  listWelcomeTexts,
  readWelcomeText,
  textNotFound,
  updateWelcomeText,
} from '../../domain/content/chat-texts/welcome-texts.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  WelcomeTextCreateRequest,
  WelcomeTextListQuery,
  WelcomeTextListResponse,
  WelcomeTextPath,
  WelcomeTextResponse,
  WelcomeTextUpdateRequest,
} from './welcome-texts.schemas.ts';

const tags: [string] = ['welcome-texts'];
const one = '/welcome-texts/{welcome_text_id}';

export const welcomeTextsRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/welcome-texts', tags, summary: 'List welcome texts' },
      description: 'Lists the welcome texts, last changed first.',
    })
    .input(fromWire(WelcomeTextListQuery))
    .output(toWire(WelcomeTextListResponse))
    .query(async ({ ctx, input }) => {
      const { limit, offset } = input;
      return { ...(await listWelcomeTexts(ctx.app, input)), limit, offset };
    }),

  create: auditedWebProcedure('welcome_texts:create')
    .meta({
      openapi: { method: 'POST', path: '/welcome-texts', tags, summary: 'Add a welcome text' },
      description:
        'Adds a welcome text. An active one takes the place of the active text before it. What the messenger would refuse is refused here.',
      refuses: [...MESSENGER_TEXT_REFUSALS],
    })
    .input(fromWire(WelcomeTextCreateRequest))
    .output(toWire(WelcomeTextResponse))
    .mutation(({ ctx, input }) => createWelcomeText(ctx.app, input, ctx.language)),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: one, tags, summary: 'Read a welcome text' },
      description: 'Returns a welcome text.',
      refuses: [textNotFound],
    })
    .input(fromWire(WelcomeTextPath))
    .output(toWire(WelcomeTextResponse))
    .query(({ ctx, input }) => readWelcomeText(ctx.app, input.welcomeTextId)),

  update: auditedWebProcedure('welcome_texts:edit')
    .meta({
      openapi: { method: 'PATCH', path: one, tags, summary: 'Change a welcome text' },
      description:
        'Changes the given fields of a welcome text. Activating it deactivates the one before it; deactivating it may leave none.',
      refuses: [...MESSENGER_TEXT_REFUSALS, textNotFound],
    })
    .input(fromWire(withBody(WelcomeTextPath, WelcomeTextUpdateRequest)))
    .output(toWire(WelcomeTextResponse))
    .mutation(({ ctx, input: { welcomeTextId, ...changes } }) =>
      updateWelcomeText(ctx.app, welcomeTextId, changes, ctx.language),
    ),

  delete: auditedWebProcedure('welcome_texts:delete')
    .meta({
      openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a welcome text' },
      description: 'Deletes a welcome text. After the active one is deleted, there is none.',
      refuses: [textNotFound],
    })
    .input(fromWire(WelcomeTextPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteWelcomeText(ctx.app, input.welcomeTextId);
      return { success: true as const };
    }),
});
