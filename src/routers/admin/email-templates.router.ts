import { sendTestMail } from '../../domain/content/send-test-mail.ts';
import { deleteTemplate, storeTemplate } from '../../domain/messaging/templates/change-template.ts';
import { previewTemplate } from '../../domain/messaging/templates/preview-template.ts';
import { listTemplates, readTemplate } from '../../domain/messaging/templates/read-templates.ts';
import { TEMPLATE_LANGUAGES } from '../../domain/messaging/templates/template-variables.ts';
import { adminProcedure, router, unaudited } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  EmailTemplateDeletedResponse,
  EmailTemplateListResponse,
  EmailTemplatePreviewRequest,
  EmailTemplatePreviewResponse,
  EmailTemplateResponse,
  EmailTemplateSavedResponse,
  EmailTemplateSendTestRequest,
  EmailTemplateTestResponse,
  EmailTemplateUpdate,
  TemplateLanguagePath,
  TemplatePath,
} from './email-templates.schemas.ts';

const tags: [string] = ['Admin Email Templates'];
const base = '/cabinet/admin/email-templates';
const one = `${base}/{notification_type}` as const;
const text = `${one}/{language}` as const;

export const adminEmailTemplatesRouter = router({
  list: adminProcedure('email_templates:read')
    .meta({ openapi: { method: 'GET', path: base, tags, summary: 'List the e-mail templates' } })
    .output(toWire(EmailTemplateListResponse))
    .query(async ({ ctx }) => ({
      items: (await listTemplates(ctx.app)).map((item) => ({ ...item, contextVars: [...item.contextVars] })),
      availableLanguages: [...TEMPLATE_LANGUAGES],
    })),

  get: adminProcedure('email_templates:read')
    .meta({ openapi: { method: 'GET', path: one, tags, summary: 'Get an e-mail template in all languages' } })
    .input(fromWire(TemplatePath))
    .output(toWire(EmailTemplateResponse))
    .query(async ({ ctx, input }) => {
      const template = await readTemplate(ctx.app, input.notificationType);
      return { ...template, contextVars: [...template.contextVars] };
    }),

  update: adminProcedure('email_templates:edit')
    .meta({ openapi: { method: 'PUT', path: text, tags, summary: 'Store an e-mail template for a language' } })
    .input(fromWire(withBody(TemplateLanguagePath, EmailTemplateUpdate)))
    .output(toWire(EmailTemplateSavedResponse))
    .mutation(async ({ ctx, input }) => ({
      status: 'ok' as const,
      template: await storeTemplate(ctx.app, ctx.actor, input),
    })),

  delete: adminProcedure('email_templates:edit')
    .meta({ openapi: { method: 'DELETE', path: text, tags, summary: 'Delete the e-mail template of a language' } })
    .input(fromWire(TemplateLanguagePath))
    .output(toWire(EmailTemplateDeletedResponse))
    .mutation(async ({ ctx, input: { notificationType, language } }) => ({
      status: 'ok' as const,
      wasCustom: await deleteTemplate(ctx.app, ctx.actor, notificationType, language),
    })),

  preview: unaudited('Changes nothing.', adminProcedure('email_templates:read'))
    .meta({ openapi: { method: 'POST', path: `${one}/preview`, tags, summary: 'Preview an e-mail template' } })
    .input(fromWire(withBody(TemplatePath, EmailTemplatePreviewRequest)))
    .output(toWire(EmailTemplatePreviewResponse))
    .mutation(({ ctx, input }) => previewTemplate(ctx.app, input)),

  test: adminProcedure('email_templates:edit')
    .meta({ openapi: { method: 'POST', path: `${one}/test`, tags, summary: 'Send a test mail' } })
    .input(fromWire(withBody(TemplatePath, EmailTemplateSendTestRequest)))
    .output(toWire(EmailTemplateTestResponse))
    .mutation(async ({ ctx, input }) => ({ status: 'ok' as const, sentTo: await sendTestMail(ctx.app, ctx.actor, input) })),
});
