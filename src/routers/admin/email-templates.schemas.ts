import { z } from 'zod';
import { publishedAsFreeForm } from '../shared.schemas.ts';

/** Contract group `Admin Email Templates` (spec 05 section 11.2). The contract leaves the answers open. */

export const TemplatePath = z.object({ notification_type: z.string().describe('Only offers of this occasion.') });
export const TemplateLanguagePath = TemplatePath.extend({
  language: z.string().describe('Two-letter language code, for example `ru` or `en`.'),
});

export const EmailTemplateUpdate = z
  .object({
    subject: z.string().min(1).max(500).describe('Subject with placeholders, up to 500 characters.'),
    body_html: z
      .string()
      .min(1)
      .describe('Body with placeholders: a whole page, or what the page of the service gets as its content.'),
  })
  .meta({
    id: 'EmailTemplateUpdate',
    example: { subject: 'Your subscription ends soon', body_html: '<p>Hello {{first_name}}</p>' },
  });

export const EmailTemplatePreviewRequest = z
  .object({
    language: z.string().default('ru').describe('Two-letter language code, for example `ru` or `en`.'),
    subject: z.string().default('').describe('Subject with placeholders; empty for the name of the type.'),
    body_html: z.string().default('').describe('Body with placeholders; empty for the built-in text.'),
  })
  .meta({ id: 'EmailTemplatePreviewRequest' });

export const EmailTemplateSendTestRequest = z
  .object({
    language: z.string().default('ru').describe('Two-letter language code, for example `ru` or `en`.'),
    email: z.string().default('').describe('E-mail address.'),
  })
  .meta({ id: 'EmailTemplateSendTestRequest' });

const Labels = z.object({ ru: z.string(), en: z.string(), zh: z.string(), ua: z.string() });
const TemplateLanguage = z.enum(['ru', 'en', 'zh', 'ua', 'fa']);

const Text = z.object({
  subject: z.string(),
  body_html: z.string(),
  is_default: z.boolean(),
  default_subject: z.string(),
  default_body_html: z.string(),
});

const described = { label: Labels, description: Labels, context_vars: z.string().array() };

export const EmailTemplateListResponse = publishedAsFreeForm(
  z.object({
    items: z
      .object({
        type: z.string(),
        ...described,
        languages: z.record(TemplateLanguage, z.object({ has_custom: z.boolean() })),
      })
      .array(),
    available_languages: TemplateLanguage.array(),
  }),
);

export const EmailTemplateResponse = publishedAsFreeForm(
  z.object({ notification_type: z.string(), ...described, languages: z.record(TemplateLanguage, Text) }),
);

export const EmailTemplateSavedResponse = publishedAsFreeForm(
  z.object({
    status: z.literal('ok'),
    template: z.object({
      notification_type: z.string(),
      language: z.string(),
      subject: z.string(),
      body_html: z.string(),
      is_active: z.boolean(),
    }),
  }),
);

export const EmailTemplateDeletedResponse = publishedAsFreeForm(z.object({ status: z.literal('ok'), was_custom: z.boolean() }));
export const EmailTemplatePreviewResponse = publishedAsFreeForm(z.object({ subject: z.string(), body_html: z.string() }));
export const EmailTemplateTestResponse = publishedAsFreeForm(z.object({ status: z.literal('ok'), sent_to: z.string() }));
