import { z } from 'zod';
import { tooManyRequests } from '../../core/rate-limit.ts';
import { mailNotConfigured, sendTestMail, testMailWithoutAddress } from '../../domain/content/send-test-mail.ts';
import { TEMPLATE_LANGUAGES } from '../../domain/messaging/templates/template-variables.ts';
import {
  deleteTemplate,
  listTemplates,
  previewTemplate,
  readTemplate,
  storeTemplate,
  templateLanguageUnknown,
  templateTypeUnknown,
} from '../../domain/messaging/templates/templates.ts';
import { publishedAsFreeForm } from '../shared.schemas.ts';
import { adminProcedure, router, unaudited } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Admin Email Templates`. The contract leaves the answers open. */

const TemplatePath = z.object({ notification_type: z.string().describe('Only offers of this occasion.') });
const TemplateLanguagePath = TemplatePath.extend({
  language: z.string().describe('Two-letter language code, for example `ru` or `en`.'),
});

const EmailTemplateUpdate = z
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

const EmailTemplatePreviewRequest = z
  .object({
    language: z.string().default('ru').describe('Two-letter language code, for example `ru` or `en`.'),
    subject: z.string().default('').describe('Subject with placeholders; empty for the name of the type.'),
    body_html: z.string().default('').describe('Body with placeholders; empty for the built-in text.'),
  })
  .meta({ id: 'EmailTemplatePreviewRequest' });

const EmailTemplateSendTestRequest = z
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

const EmailTemplateListResponse = publishedAsFreeForm(
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

const EmailTemplateResponse = publishedAsFreeForm(
  z.object({ notification_type: z.string(), ...described, languages: z.record(TemplateLanguage, Text) }),
);

const EmailTemplateSavedResponse = publishedAsFreeForm(
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

const EmailTemplateDeletedResponse = publishedAsFreeForm(z.object({ status: z.literal('ok'), was_custom: z.boolean() }));
const EmailTemplatePreviewResponse = publishedAsFreeForm(z.object({ subject: z.string(), body_html: z.string() }));
const EmailTemplateTestResponse = publishedAsFreeForm(z.object({ status: z.literal('ok'), sent_to: z.string() }));

const tags: [string] = ['Admin Email Templates'];
const base = '/cabinet/admin/email-templates';
const one = `${base}/{notification_type}` as const;
const text = `${one}/{language}` as const;

export const adminEmailTemplatesRouter = router({
  list: adminProcedure('email_templates:read')
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'List the e-mail templates' },
      description:
        'Lists the types of e-mail whose text can be replaced: label and description by language, placeholders (`context_vars`), and for which languages there is a template.',
    })
    .output(toWire(EmailTemplateListResponse))
    .query(async ({ ctx }) => ({
      items: (await listTemplates(ctx.app)).map((item) => ({ ...item, contextVars: [...item.contextVars] })),
      availableLanguages: [...TEMPLATE_LANGUAGES],
    })),

  get: adminProcedure('email_templates:read')
    .meta({
      openapi: { method: 'GET', path: one, tags, summary: 'Get an e-mail template in all languages' },
      description:
        'Returns a template for each of the five languages: the text in force and the built-in one with example values. A stored body is returned as it was sent: show it in a sandboxed frame only.',
      refuses: [templateTypeUnknown],
    })
    .input(fromWire(TemplatePath))
    .output(toWire(EmailTemplateResponse))
    .query(async ({ ctx, input }) => {
      const template = await readTemplate(ctx.app, input.notificationType);
      return { ...template, contextVars: [...template.contextVars] };
    }),

  update: adminProcedure('email_templates:edit')
    .meta({
      openapi: { method: 'PUT', path: text, tags, summary: 'Store an e-mail template for a language' },
      description:
        'Stores subject and body as they are sent and puts them in force; the next mail of this type to a user with this language has them, on every instance. `{name}` is replaced by the value of the placeholder, escaped in the body and without line breaks in the subject; an unknown name stays. Nothing else in the text is evaluated. A text without content is ignored when a mail is sent, and the link or code that a mail is sent for is added where the body leaves it out.',
      refuses: [templateLanguageUnknown, templateTypeUnknown],
    })
    .input(fromWire(withBody(TemplateLanguagePath, EmailTemplateUpdate)))
    .output(toWire(EmailTemplateSavedResponse))
    .mutation(async ({ ctx, input }) => ({
      status: 'ok' as const,
      template: await storeTemplate(ctx.app, ctx.actor, input),
    })),

  delete: adminProcedure('email_templates:edit')
    .meta({
      openapi: { method: 'DELETE', path: text, tags, summary: 'Delete the e-mail template of a language' },
      description: 'Deletes the template; the next mail has the built-in text. `was_custom` says whether there was one.',
      refuses: [templateTypeUnknown],
    })
    .input(fromWire(TemplateLanguagePath))
    .output(toWire(EmailTemplateDeletedResponse))
    .mutation(async ({ ctx, input: { notificationType, language } }) => ({
      status: 'ok' as const,
      wasCustom: await deleteTemplate(ctx.app, ctx.actor, notificationType, language),
    })),

  preview: unaudited('Changes nothing.', adminProcedure('email_templates:read'))
    .meta({
      openapi: { method: 'POST', path: `${one}/preview`, tags, summary: 'Preview an e-mail template' },
      description:
        'Shows a template with example values, without storing it; an empty body shows the built-in text. The page forbids scripts and frames by its own content security policy; show it in a sandboxed frame nevertheless.',
      refuses: [templateTypeUnknown],
    })
    .input(fromWire(withBody(TemplatePath, EmailTemplatePreviewRequest)))
    .output(toWire(EmailTemplatePreviewResponse))
    .mutation(({ ctx, input }) => previewTemplate(ctx.app, input)),

  test: adminProcedure('email_templates:edit')
    .meta({
      openapi: { method: 'POST', path: `${one}/test`, tags, summary: 'Send a test mail' },
      description:
        'Sends one mail with example values now, with the stored template or the built-in text, its subject prefixed with `[TEST] `. Without an address it goes to the administrator. 5 a minute for each administrator.',
      refuses: [mailNotConfigured, testMailWithoutAddress, templateTypeUnknown, tooManyRequests],
    })
    .input(fromWire(withBody(TemplatePath, EmailTemplateSendTestRequest)))
    .output(toWire(EmailTemplateTestResponse))
    .mutation(async ({ ctx, input }) => ({ status: 'ok' as const, sentTo: await sendTestMail(ctx.app, ctx.actor, input) })),
});
