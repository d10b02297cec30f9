import { z } from 'zod';
import { publishedAsFreeForm } from '../shared.schemas.ts';

/** Contract group `Admin Email Templates` (spec 05 section 11.2). The contract leaves the answers open. */

export const TemplatePath = z.object({ notification_type: z.string() });
export const TemplateLanguagePath = TemplatePath.extend({ language: z.string() });

export const EmailTemplateUpdate = z.object({ subject: z.string().min(1).max(500), body_html: z.string().min(1) }).meta({
  id: 'EmailTemplateUpdate',
  example: { subject: 'Your subscription ends soon', body_html: '<p>Hello {{first_name}}</p>' },
});

export const EmailTemplatePreviewRequest = z
  .object({ language: z.string().default('ru'), subject: z.string().default(''), body_html: z.string().default('') })
  .meta({ id: 'EmailTemplatePreviewRequest' });

export const EmailTemplateSendTestRequest = z
  .object({ language: z.string().default('ru'), email: z.string().default('') })
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
