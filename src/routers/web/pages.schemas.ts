import { z } from 'zod';
import { DEFAULT_RULES_TITLE } from '../../domain/content/pages/types.ts';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `pages`. The length of contents is checked in the domain. */

const language = z.string().min(2).max(10).default('ru');

export const RichTextQuery = z.object({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
  ),
  fallback: z.boolean().default(true).describe('Whether `DEFAULT_LANGUAGE` is used where the language has nothing.'),
  include_disabled: z.boolean().default(true).describe('Whether a document that users are not shown is returned too.'),
});

export const RichTextPageUpdateRequest = z
  .object({
    language: language.describe(
      'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
    ),
    content: z.string().describe('Text in HTML or Markdown, up to 200,000 characters. It is stored as it is sent.'),
    is_enabled: z
      .boolean()
      .nullish()
      .describe('Whether users are shown the document; null leaves it unchanged, and a new one is shown.'),
  })
  .meta({ id: 'RichTextPageUpdateRequest', example: { language: 'en', content: '<b>Terms</b>\n\nFirst of all …' } });

export const RichTextPageResponse = z
  .object({
    requested_language: z.string().describe('Language of the request, normalised.'),
    language: z.string().describe('Language of the document.'),
    is_enabled: z.boolean().nullish().describe('Whether users are shown the document.'),
    content: z.string().describe('The text as it was written.'),
    content_pages: z
      .string()
      .array()
      .default([])
      .describe(
        'The content in parts of at most 3500 characters, for messages of the chat; empty for a blank content. Tags that are open where a part ends are closed there and opened again in the next one.',
      ),
    created_at: Timestamp.nullish().describe('When the page was first saved (UTC); null while it never was.'),
    updated_at: Timestamp.nullish().describe('When the page was last saved (UTC); null while it never was.'),
  })
  .meta({ id: 'RichTextPageResponse' });

export const FaqListQuery = z.object({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
  ),
  include_inactive: z
    .boolean()
    .default(true)
    .describe('Whether inactive questions are listed too, and questions that are switched off.'),
  fallback: z.boolean().default(true).describe('Whether `DEFAULT_LANGUAGE` is used where the language has nothing.'),
});

export const FaqPagePath = z.object({ page_id: z.int().describe('Id of the question.') });
export const FaqPageQuery = FaqPagePath.extend({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
  ),
  include_inactive: z.boolean().default(true).describe('Whether an inactive question is returned too.'),
});

export const FaqPageResponse = z
  .object({
    id: z.int().describe('Id of the frequent question.'),
    language: z.string().describe('Language of the question.'),
    title: z.string().describe('The question.'),
    content: z.string().describe('The answer as it was written.'),
    content_pages: z
      .string()
      .array()
      .default([])
      .describe('The content in parts of at most 3500 characters, for messages of the chat; empty for a blank content.'),
    display_order: z.int().describe('Place in the list; of equal numbers the lower id comes first.'),
    is_active: z.boolean().describe('Whether users see the question while the questions of its language are switched on.'),
    created_at: Timestamp.describe('When the question was created (UTC).'),
    updated_at: Timestamp.describe('When the question, its answer, its place or its state was last changed (UTC).'),
  })
  .meta({ id: 'FaqPageResponse' });

export const FaqPageListResponse = z
  .object({
    requested_language: z.string().describe('Language of the request, normalised.'),
    language: z.string().describe('Language whose stored switch counts; without a switch the language of the first question.'),
    is_enabled: z.boolean().describe('Whether the questions of that language are switched on; false where nothing is stored.'),
    total: z.int().describe('Number of questions in the answer.'),
    items: FaqPageResponse.array().describe('The questions in their order.'),
  })
  .meta({ id: 'FaqPageListResponse' });

export const FaqPageCreateRequest = z
  .object({
    language: language.describe(
      'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
    ),
    title: z.string().min(1).max(255).describe('The question.'),
    content: z.string().describe('The answer. Text in HTML or Markdown, up to 200,000 characters. It is stored as it is sent.'),
    display_order: z
      .int()
      .min(0)
      .nullish()
      .describe('Place in the list; null for after the last one. Equal numbers are allowed.'),
    is_active: z.boolean().nullable().default(true).describe('Whether users are shown the question; null means true.'),
  })
  .meta({ id: 'FaqPageCreateRequest', example: { language: 'en', title: 'How do I connect?', content: 'Open the link …' } });

export const FaqPageUpdateRequest = z
  .object({
    title: z.string().min(1).max(255).nullish().describe('The question; null leaves it unchanged.'),
    content: z
      .string()
      .nullish()
      .describe(
        'The answer; null leaves it unchanged. Text in HTML or Markdown, up to 200,000 characters. It is stored as it is sent.',
      ),
    display_order: z.int().min(0).nullish().describe('Place in the list; null leaves it unchanged. No other question is moved.'),
    is_active: z.boolean().nullish().describe('Whether users are shown the question; null leaves it unchanged.'),
  })
  .meta({
    id: 'FaqPageUpdateRequest',
    example: { title: 'How do I connect?', content: '<p>Open the link in the app.</p>', display_order: 0, is_active: true },
  });

export const FaqStatusQuery = z.object({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
  ),
  fallback: z.boolean().default(true).describe('Whether `DEFAULT_LANGUAGE` is used where the language has nothing.'),
});

const FaqStatusUpdateRequest = z
  .object({
    language: language.describe(
      'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
    ),
    is_enabled: z.boolean().describe('Whether users are shown the questions of the language.'),
  })
  .meta({ id: 'FaqStatusUpdateRequest', example: { language: 'en', is_enabled: false } });

/** The body takes precedence over the query. */
export const FaqStatusInput = z.object({
  language: language.describe('Language; ignored with a body.'),
  is_enabled: z
    .boolean()
    .nullish()
    .describe('Whether users are shown the questions; required without a body, and ignored with one.'),
  body: FaqStatusUpdateRequest.nullish(),
});

export const FaqStatusResponse = z
  .object({
    requested_language: z.string().describe('Language of the request, normalised.'),
    language: z.string().describe('Language whose stored switch counts.'),
    is_enabled: z.boolean().describe('Whether users are shown the questions; false where nothing is stored.'),
  })
  .meta({ id: 'FaqStatusResponse' });

const FaqReorderItem = z
  .object({
    id: z.int().min(1).describe('Id of a question of this language.'),
    display_order: z.int().min(0).describe('Place among the named questions; the stored numbers begin at 1.'),
  })
  .meta({ id: 'FaqReorderItem' });

export const FaqReorderRequest = z
  .object({
    language: language.describe(
      'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
    ),
    items: FaqReorderItem.array().describe('Questions with their new places, each at most once; an empty list only renumbers.'),
  })
  .meta({ id: 'FaqReorderRequest', example: { language: 'en', items: [] } });

export const RulesQuery = z.object({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
  ),
  fallback: z.boolean().default(true).describe('Whether `DEFAULT_LANGUAGE` is used where the language has nothing.'),
});
export const RulesLanguageQuery = z.object({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
  ),
});
export const RulesHistoryQuery = z.object({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
  ),
  limit: z.int().min(1).max(100).default(10).describe('Greatest number of records in the answer.'),
});
export const RulesVersionPath = z.object({
  rule_id: z.int().describe('Id of the version.'),
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
  ),
});

export const ServiceRulesUpdateRequest = z
  .object({
    language: language.describe(
      'Language: the part before a hyphen counts, in lower case; any word of up to 10 characters is a language.',
    ),
    title: z
      .string()
      .min(1)
      .max(255)
      .nullable()
      .default(DEFAULT_RULES_TITLE)
      .describe('Title; null, or the default, for the title in the language of the rules.'),
    content: z.string().describe('Text in HTML or Markdown, up to 200,000 characters. It is stored as it is sent.'),
  })
  .meta({ id: 'ServiceRulesUpdateRequest', example: { language: 'en', title: 'Rules', content: '1. No spam.' } });

export const ServiceRulesResponse = z
  .object({
    id: z.int().describe('Id of the version of the rules.'),
    title: z.string().describe('Title of the rules.'),
    content: z.string().describe('The text as it was written.'),
    language: z.string().describe('Language of the rules.'),
    is_active: z.boolean().describe('Whether this version is in force.'),
    created_at: Timestamp.describe('When the version of the rules was created (UTC).'),
    updated_at: Timestamp.describe('When the version was last changed (UTC): saved, or replaced by another version.'),
  })
  .meta({ id: 'ServiceRulesResponse' });

export const ServiceRulesHistoryResponse = z
  .object({
    language: z.string().describe('Language of the request, normalised.'),
    total: z.int().describe('Number of versions in the answer.'),
    items: ServiceRulesResponse.array().describe('The versions, newest first.'),
  })
  .meta({ id: 'ServiceRulesHistoryResponse' });
