import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `welcome-texts` (spec 05 section 6). A blank text is refused in the domain. */

export const WelcomeTextListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  include_inactive: z.boolean().default(true),
});

export const WelcomeTextPath = z.object({ welcome_text_id: z.int() });

export const WelcomeTextCreateRequest = z
  .object({
    text: z.string().min(1).max(4000),
    is_enabled: z.boolean().default(true),
    is_active: z.boolean().default(true),
  })
  .meta({ id: 'WelcomeTextCreateRequest', example: { text: '<b>Hello, {user_name}!</b>' } });

export const WelcomeTextUpdateRequest = z
  .object({
    text: z.string().min(1).max(4000).nullish(),
    is_enabled: z.boolean().nullish(),
    is_active: z.boolean().nullish(),
  })
  .meta({ id: 'WelcomeTextUpdateRequest', example: { text: 'Welcome, {user_name}!', is_active: true } });

export const WelcomeTextResponse = z
  .object({
    id: z.int(),
    text: z.string(),
    is_active: z.boolean(),
    is_enabled: z.boolean(),
    created_by: z.int().nullable(),
    created_at: Moment,
    updated_at: Moment,
  })
  .meta({ id: 'WelcomeTextResponse' });

export const WelcomeTextListResponse = z
  .object({ items: WelcomeTextResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'WelcomeTextListResponse' });
