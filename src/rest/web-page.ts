/** The small pages for browsers: the frame that they share, and who gets one (spec 10 K7). */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { preferredLanguage } from '../routers/preferred-language.ts';

/** A text of the pages, in the language of the browser. */
export type PageText = (key: `web_${string}`, params?: Readonly<Record<string, string | number>>) => string;

/** Texts by language; null = the default one. */
export type PageTexts = (language: string | null) => { language: string; text: PageText };

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1.25rem;background:light-dark(#f1f3f8,#12151c);color:light-dark(#1b2330,#e7ebf3)}
h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.02em;margin:0 0 .5rem}
p{margin:.5rem 0;color:light-dark(#5a6476,#98a2b3);overflow-wrap:anywhere}
ul{list-style:none;margin:1.5rem 0;padding:0;display:grid;gap:.5rem}
a{color:light-dark(#2453d6,#8db0ff)}
li a{display:block;padding:.75rem 1rem;border:1px solid light-dark(#dfe3ec,#2a3140);border-radius:.75rem;background:light-dark(#fff,#1b202b);text-decoration:none}
button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.75rem;background:#3b6ef6;color:#fff;cursor:pointer}
li a:hover,li a:focus-visible{border-color:currentColor}`;

const policy = (formAction: string) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "img-src 'self'",
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ');

/** What the choice between page and JSON depends on, for caches. */
const VARY = 'Accept, Accept-Language, Sec-Fetch-Mode';

/** Says to caches that the answer depends on these headers, besides those that were named before. */
export function varyByBrowser(reply: FastifyReply): void {
  const before = reply.getHeader('vary');
  reply.header('vary', before === undefined ? VARY : `${String(before)}, ${VARY}`);
}

/**
 * Whether a person opens this address in a browser: HTML is preferred to JSON, and it is no request of a script. Programs that accept
 * anything get JSON.
 */
export function wantsPage({ method, headers }: FastifyRequest): boolean {
  if (method !== 'GET') return false;
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined && mode !== 'navigate') return false;
  const html = weightOf(headers.accept, 'text/html');
  return html > 0 && html > weightOf(headers.accept, 'application/json');
}

/** The weight of a media type that is named itself; 0 when it is not. */
function weightOf(accept: string | undefined, type: string): number {
  for (const entry of (accept ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    return Number.isFinite(weight) ? weight : 0;
  }
  return 0;
}

/** Language and texts of a request. */
export function pageTextsFor(request: FastifyRequest, texts: PageTexts): ReturnType<PageTexts> {
  return texts(preferredLanguage(request.headers['accept-language']));
}

/** Headers of a page; status and body are the caller's. @param formAction where its forms may lead, as a policy says it */
export function setPageHeaders(reply: FastifyReply, formAction = "'none'"): FastifyReply {
  return reply
    .header('cache-control', 'no-cache')
    .header('content-security-policy', policy(formAction))
    .header('content-type', 'text/html; charset=utf-8');
}

/** @param lines HTML of the body, with what comes from elsewhere escaped */
export function webPage(language: string, title: string, lines: readonly string[]): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(title)}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeText(title)}</h1>
${lines.join('\n')}
</main>
</body>
</html>
`;
}

export const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
