import { z } from 'zod';
import { MESSENGER_TEXT_REFUSALS } from '../../domain/content/chat-texts/chat-menu.ts';
import {
  createWelcomeText,
  deleteWelcomeText,
  listWelcomeTexts,
  readWelcomeText,
  textNotFound,
  updateWelcomeText,
} from '../../domain/content/chat-texts/welcome-texts.ts';
import { SuccessResponse, Timestamp } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `welcome-texts`. A blank text is refused in the domain. */

const WelcomeTextListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  include_inactive: z.boolean().default(true).describe('Whether inactive records are listed too.'),
});

const WelcomeTextPath = z.object({ welcome_text_id: z.int().describe('Id of the welcome text.') });

const WelcomeTextCreateRequest = z
  .object({
    text: z
      .string()
      .min(1)
      .max(4000)
      .describe(
        "Text in the messenger's HTML (`b`, `i`, `u`, `s`, `code`, `pre`, `a`, `blockquote`, spoilers and emoji of the messenger); escaped tags count as tags. At most 4096 characters without tags. Placeholders: `{user_name}`, `{first_name}`, `{username}`, `{username_clean}`, each counted as 64 characters. Trimmed.",
      ),
    is_enabled: z.boolean().default(true).describe('Whether the text is sent while it is the active one.'),
    is_active: z.boolean().default(true).describe('Whether it becomes the active text; then the one before it is deactivated.'),
  })
  .meta({ id: 'WelcomeTextCreateRequest', example: { text: '<b>Hello, {user_name}!</b>' } });

const WelcomeTextUpdateRequest = z
  .object({
    text: z
      .string()
      .min(1)
      .max(4000)
      .nullish()
      .describe(
        "Text in the messenger's HTML (`b`, `i`, `u`, `s`, `code`, `pre`, `a`, `blockquote`, spoilers and emoji of the messenger); escaped tags count as tags. At most 4096 characters without tags. Placeholders: `{user_name}`, `{first_name}`, `{username}`, `{username_clean}`, each counted as 64 characters. Null leaves it unchanged.",
      ),
    is_enabled: z.boolean().nullish().describe('Whether the text is sent while it is the active one; null leaves it unchanged.'),
    is_active: z.boolean().nullish().describe('True makes it the active text, false deactivates it; null leaves it unchanged.'),
  })
  .meta({ id: 'WelcomeTextUpdateRequest', example: { text: 'Welcome, {user_name}!', is_active: true } });

const WelcomeTextResponse = z
  .object({
    id: z.int().describe('Id of the welcome text.'),
    text: z.string().describe('The text as it was written, with its placeholders.'),
    is_active: z.boolean().describe('Whether it is the active text; at most one is.'),
    is_enabled: z.boolean().describe('Whether the text is sent while it is the active one.'),
    created_by: z.int().nullable().describe('Id of the user who wrote the text; null for one that came with an API token.'),
    created_at: Timestamp.describe('When the welcome text was created (UTC).'),
    updated_at: Timestamp.describe('When the welcome text was last changed (UTC).'),
  })
  .meta({ id: 'WelcomeTextResponse' });

const WelcomeTextListResponse = z
  .object({
    items: WelcomeTextResponse.array().describe('A page of welcome texts, last changed first.'),
    total: z.int().describe('Number of welcome texts that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'WelcomeTextListResponse' });

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
