import type { App } from '../../../core/app.ts';
import { renderTemplate } from '../render-mail.ts';
import { frameOf } from '../send-mail.ts';
import { knownTemplateType } from './errors.ts';
import { builtInSample } from './read-templates.ts';
import { sampleValues } from './sample-values.ts';
import { templateLanguage } from './template-variables.ts';

/** The first element of a previewed page: it forbids scripts, frames, forms and requests except for pictures. */
const POLICY =
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src http: https: data:; ` +
  `style-src 'unsafe-inline' http: https:; font-src http: https: data:; form-action 'none'; base-uri 'none'">`;

/**
 * A template that is not stored yet, with example values; without a body, our own text (spec 05 section 11.2). The page has a content
 * security policy, so that nothing in it runs where a client shows it in a frame of its own origin.
 * @throws AppError 404 `template_type_unknown`
 */
export function previewTemplate(
  app: App,
  {
    notificationType,
    language,
    subject,
    bodyHtml,
  }: { notificationType: string; language: string; subject: string; bodyHtml: string },
): { subject: string; bodyHtml: string } {
  const type = knownTemplateType(notificationType);
  const known = templateLanguage(language);
  const mail =
    bodyHtml === ''
      ? builtInSample(app, type, known)
      : renderTemplate(known, sampleValues(type), frameOf(app), { subject: subject === '' ? type : subject, bodyHtml }, type);
  return { subject: mail.subject, bodyHtml: withPolicy(mail.html) };
}

/** The policy counts only in the head, and only for what follows it. */
function withPolicy(html: string): string {
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0] ?? '';
  return doctype + POLICY + html.slice(doctype.length);
}
