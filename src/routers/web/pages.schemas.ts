import { z } from 'zod';
import { DEFAULT_RULES_TITLE } from '../../domain/content/pages/types.ts';
import { Moment } from '../shared.schemas.ts';

/** Contract group `pages` (spec 05 section 5.1). The length of contents is checked in the domain. */

const language = z.string().min(2).max(10).default('ru');

export const RichTextQuery = z.object({
  language,
  fallback: z.boolean().default(true),
  include_disabled: z.boolean().default(true),
});

export const RichTextPageUpdateRequest = z
  .object({ language, content: z.string(), is_enabled: z.boolean().nullish() })
  .meta({ id: 'RichTextPageUpdateRequest', example: { language: 'en', content: '<b>Terms</b>\n\nFirst of all …' } });

export const RichTextPageResponse = z
  .object({
    requested_language: z.string(),
    language: z.string(),
    is_enabled: z.boolean().nullish(),
    content: z.string(),
    content_pages: z.string().array().default([]),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'RichTextPageResponse' });

export const FaqListQuery = z.object({
  language,
  include_inactive: z.boolean().default(true),
  fallback: z.boolean().default(true),
});

export const FaqPagePath = z.object({ page_id: z.int() });
export const FaqPageQuery = FaqPagePath.extend({ language, include_inactive: z.boolean().default(true) });

export const FaqPageResponse = z
  .object({
    id: z.int(),
    language: z.string(),
    title: z.string(),
    content: z.string(),
    content_pages: z.string().array().default([]),
    display_order: z.int(),
    is_active: z.boolean(),
    created_at: Moment,
    updated_at: Moment,
  })
  .meta({ id: 'FaqPageResponse' });

export const FaqPageListResponse = z
  .object({
    requested_language: z.string(),
    language: z.string(),
    is_enabled: z.boolean(),
    total: z.int(),
    items: FaqPageResponse.array(),
  })
  .meta({ id: 'FaqPageListResponse' });

export const FaqPageCreateRequest = z
  .object({
    language,
    title: z.string().min(1).max(255),
    content: z.string(),
    display_order: z.int().min(0).nullish(),
    is_active: z.boolean().nullable().default(true),
  })
  .meta({ id: 'FaqPageCreateRequest', example: { language: 'en', title: 'How do I connect?', content: 'Open the link …' } });

export const FaqPageUpdateRequest = z
  .object({
    title: z.string().min(1).max(255).nullish(),
    content: z.string().nullish(),
    display_order: z.int().min(0).nullish(),
    is_active: z.boolean().nullish(),
  })
  .meta({
    id: 'FaqPageUpdateRequest',
    example: { title: 'How do I connect?', content: '<p>Open the link in the app.</p>', display_order: 0, is_active: true },
  });

export const FaqStatusQuery = z.object({ language, fallback: z.boolean().default(true) });

export const FaqStatusUpdateRequest = z
  .object({ language, is_enabled: z.boolean() })
  .meta({ id: 'FaqStatusUpdateRequest', example: { language: 'en', is_enabled: false } });

/** The body takes precedence over the query. */
export const FaqStatusInput = z.object({
  language,
  is_enabled: z.boolean().nullish(),
  body: FaqStatusUpdateRequest.nullish(),
});

export const FaqStatusResponse = z
  .object({ requested_language: z.string(), language: z.string(), is_enabled: z.boolean() })
  .meta({ id: 'FaqStatusResponse' });

export const FaqReorderItem = z.object({ id: z.int().min(1), display_order: z.int().min(0) }).meta({ id: 'FaqReorderItem' });

export const FaqReorderRequest = z
  .object({ language, items: FaqReorderItem.array() })
  .meta({ id: 'FaqReorderRequest', example: { language: 'en', items: [] } });

export const RulesQuery = z.object({ language, fallback: z.boolean().default(true) });
export const RulesLanguageQuery = z.object({ language });
export const RulesHistoryQuery = z.object({ language, limit: z.int().min(1).max(100).default(10) });
export const RulesVersionPath = z.object({ rule_id: z.int(), language });

export const ServiceRulesUpdateRequest = z
  .object({ language, title: z.string().min(1).max(255).nullable().default(DEFAULT_RULES_TITLE), content: z.string() })
  .meta({ id: 'ServiceRulesUpdateRequest', example: { language: 'en', title: 'Rules', content: '1. No spam.' } });

export const ServiceRulesResponse = z
  .object({
    id: z.int(),
    title: z.string(),
    content: z.string(),
    language: z.string(),
    is_active: z.boolean(),
    created_at: Moment,
    updated_at: Moment,
  })
  .meta({ id: 'ServiceRulesResponse' });

export const ServiceRulesHistoryResponse = z
  .object({ language: z.string(), total: z.int(), items: ServiceRulesResponse.array() })
  .meta({ id: 'ServiceRulesHistoryResponse' });
