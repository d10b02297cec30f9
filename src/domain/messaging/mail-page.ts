import { escapeHtml, fill, knownLanguage, text } from './texts.ts';

/**
 * The page around the body of a mail. Colours of the light page stand in attributes, since some mail readers drop style sheets; those of the
 * dark one can only stand in a style sheet, with `!important` over the attributes.
 */
const PAGE = `<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<style>
body, td { word-break: break-word; overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) {
  .mail-page { background: #11161f !important; color: #e6eaf2 !important; }
  .mail-card { background: #1b2230 !important; }
  .mail-body a:not([style]) { color: #8fb0ff !important; }
  .mail-footer { color: #a5aec0 !important; }
}
</style></head>
<body class="mail-page" style="margin:0;padding:24px 12px;background:#eef1f6;font-family:Arial,Helvetica,sans-serif;color:#1c2430">
<div class="mail-card" style="max-width:520px;margin:0 auto;background:#ffffff;border-radius:14px;overflow:hidden">
<div style="padding:20px 28px;background:#1f3a8a;color:#ffffff;font-size:18px;font-weight:bold">{service_name}</div>
<div class="mail-body" style="padding:24px 28px;font-size:15px;line-height:1.6;overflow-wrap:anywhere">{content}</div>
<div class="mail-footer" style="padding:14px 28px 22px;font-size:12px;color:#5b6577">{footer}</div>
</div></body></html>`;

/** @param body HTML @param serviceName plain text */
export function basePage(language: string | null | undefined, body: string, serviceName: string): string {
  const values = {
    language: knownLanguage(language),
    service_name: escapeHtml(serviceName),
    content: body,
    footer: escapeHtml(text(language, 'mail.base_footer')),
  };
  return fill(PAGE, values, String);
}

/** The page of an administrator's body: a whole page stays as it is, a styled body gets an empty page, any other body the base page. */
export function pageOfTemplate(language: string | null | undefined, body: string, serviceName: string): string {
  if (isWholePage(body)) return body;
  if (/<style\b|background/i.test(body)) {
    return `<!doctype html>\n<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"></head><body>${body}</body></html>`;
  }
  return basePage(language, body, serviceName);
}

export function isWholePage(html: string): boolean {
  return /^\s*<(!doctype|html)\b/i.test(html);
}
