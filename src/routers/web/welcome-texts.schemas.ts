import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `welcome-texts` (spec 05 section 6). A blank text is refused in the domain. */

export const WelcomeTextListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  include_inactive: z.boolean().default(true).describe('Whether inactive records are listed too.'),
});

export const WelcomeTextPath = z.object({ welcome_text_id: z.int().describe('Id of the welcome text.') });

export const WelcomeTextCreateRequest = z
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

export const WelcomeTextUpdateRequest = z
  .object({
    text: z
      .string()
      .min(1)
      .max(4000)
      .nullish()
      .describe(
        "Text in the messenger's HTML (`b`, `i`, `u`, `s`, `code`, `pre`, `a`, `blockquote`, spoilers and emoji of the messenger); escaped tags count as tags. At most 4096 characters without tags. Placeholders: `{user_name}`, `{first_name}`, `{username}`, `{username_clean}`, each counted as 64 characters. Null leaves it unchanged.",
      ),
    is_enabled: z
      .boolean()
      .nullish()
      .describe('Whether it is switched on. In a request, absent or null leaves the value unchanged.'),
    is_active: z.boolean().nullish().describe('True makes it the active text, false deactivates it; null leaves it unchanged.'),
  })
  .meta({ id: 'WelcomeTextUpdateRequest', example: { text: 'Welcome, {user_name}!', is_active: true } });

export const WelcomeTextResponse = z
  .object({
    id: z.int().describe('Id of the welcome text.'),
    text: z.string().describe('The text as it was written, with its placeholders.'),
    is_active: z.boolean().describe('Whether it is the active text; at most one is.'),
    is_enabled: z.boolean().describe('Whether the text is sent while it is the active one.'),
    created_by: z.int().nullable().describe('Id of the user who wrote the text; null for one that came with an API token.'),
    created_at: Timestamp.describe('When the welcome text was created (UTC).'),
    updated_at: Timestamp.describe('When the record was last changed (UTC).'),
  })
  .meta({ id: 'WelcomeTextResponse' });

export const WelcomeTextListResponse = z
  .object({
    items: WelcomeTextResponse.array().describe('A page of welcome texts, last changed first.'),
    total: z.int().describe('Number of welcome texts that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'WelcomeTextListResponse' });
