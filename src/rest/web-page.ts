/** The small pages for browsers: the frame that they share, and who gets one (spec 10 K7). */

import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { preferredLanguage } from '../routers/preferred-language.ts';

/** A text of the pages, in the language of the browser. */
type PageText = (key: `web_${string}`, params?: Readonly<Record<string, string | number>>) => string;

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
li a:hover,li a:focus-visible{border-color:currentColor}
.state::before{content:"";display:inline-block;width:.6rem;height:.6rem;margin-right:.5rem;border-radius:50%;background:light-dark(#15803d,#4ade80)}
.state.away::before{background:light-dark(#b45309,#fbbf24)}`;

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
function varyByBrowser(reply: FastifyReply): void {
  const before = reply.getHeader('vary');
  reply.header('vary', before === undefined ? VARY : `${String(before)}, ${VARY}`);
}

/**
 * Whether a person opens this address in a browser: HTML is preferred to JSON, and it is no request of a script. Programs that accept
 * anything get JSON.
 */
function wantsPage({ method, headers }: FastifyRequest): boolean {
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
function pageTextsFor(request: FastifyRequest, texts: PageTexts): ReturnType<PageTexts> {
  return texts(preferredLanguage(request.headers['accept-language']));
}

/** Headers of a page; status and body are the caller's. @param formAction where its forms may lead, as a policy says it */
function setPageHeaders(reply: FastifyReply, formAction = "'none'"): FastifyReply {
  return reply
    .header('cache-control', 'no-cache')
    .header('content-security-policy', policy(formAction))
    .header('content-type', 'text/html; charset=utf-8');
}

/** @param lines HTML of the body, with what comes from elsewhere escaped */
function webPage(language: string, title: string, lines: readonly string[]): string {
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

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

// `GET /`: which service this is, its state, what runs and where its documentation is (spec 08 C9, spec 10 K7). A page for browsers, JSON for
// programs. Also the pages in place of JSON for what a person meets in a browser: nothing there, not allowed, not now.

interface HomeFacts {
  name: string;
  version: string;
  state: 'ready' | 'not ready';
  /** Paths; null while they are off. */
  documentation: string | null;
  sandbox: string | null;
}

interface HomeOptions {
  /** Read for each request; they are public. */
  facts: () => HomeFacts;
  /** Kinds of outside systems that are fakes; each has a text `web_fake_…`. */
  fakes: () => readonly string[];
  texts: PageTexts;
}

const DAY_SECONDS = 86_400;
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b6ef6"/><path d="M16 6l8 3v7c0 5-3.4 8.6-8 10-4.6-1.4-8-5-8-10V9z" fill="#fff"/><path d="M12 16l3 3 5-6" fill="none" stroke="#3b6ef6" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** Registers the page and the icon of the pages. */
export function registerHomePage(fastify: FastifyInstance, { facts, fakes, texts }: HomeOptions): void {
  fastify.get('/', { config: { isOnMount: true } }, (request, reply) => {
    reply.header('cache-control', 'no-cache');
    varyByBrowser(reply);
    if (!wantsPage(request)) return reply.send(facts());
    const { language, text } = pageTextsFor(request, texts);
    return setPageHeaders(reply).send(webPage(language, facts().name, homeLines(facts(), fakes(), text)));
  });
  // Browsers ask for the second where a page names none.
  for (const url of ['/favicon.svg', '/favicon.ico']) {
    fastify.get(url, (_request, reply) =>
      reply.header('cache-control', `public, max-age=${DAY_SECONDS}`).type('image/svg+xml').send(ICON),
    );
  }
}

function homeLines({ version, state, documentation, sandbox }: HomeFacts, fakes: readonly string[], text: PageText): string[] {
  const links: (readonly [string, string])[] = [
    ...(documentation === null
      ? []
      : ([
          [documentation, text('web_documentation')],
          ['/redoc', text('web_redoc')],
          ['/openapi.json', text('web_document')],
        ] as const)),
    ...(sandbox === null ? [] : [[sandbox, text('web_sandbox')] as const]),
  ];
  return [
    `<p class="state${state === 'ready' ? '' : ' away'}">${escapeText(text(state === 'ready' ? 'web_ready' : 'web_not_ready'))} · ${escapeText(text('web_version', { version }))}</p>`,
    `<p>${escapeText(fakes.length > 0 ? text('web_fakes', { kinds: fakes.map((kind) => text(`web_fake_${kind}`)).join(', ') }) : text('web_real'))}</p>`,
    ...(links.length === 0
      ? []
      : [`<ul>\n${links.map(([path, title]) => `<li><a href="${path}">${escapeText(title)}</a></li>`).join('\n')}\n</ul>`]),
  ];
}

/** Refusals that a person can meet in a browser, by status. */
const REFUSALS: Readonly<Record<number, '403' | '404' | '503'>> = { 403: '403', 404: '404', 503: '503' };

/**
 * Answers a refused navigation with a page. An operation of the interface answers JSON to everybody: only addresses without one, and those of
 * pages, are concerned.
 * @param isPage whether a route serves a page
 */
export function registerRefusalPages(
  fastify: FastifyInstance,
  { texts, isPage }: { texts: PageTexts; isPage: (route: string) => boolean },
): void {
  const concerns = (request: FastifyRequest) => request.is404 || isPage(request.routeOptions.url ?? '');
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const kind = REFUSALS[reply.statusCode];
    if (kind === undefined || request.method !== 'GET' || !concerns(request)) return done(null, payload);
    // A page that says itself what is wrong.
    if (String(reply.getHeader('content-type')).startsWith('text/html')) return done(null, payload);
    varyByBrowser(reply);
    if (!wantsPage(request)) return done(null, payload);
    const { language, text } = pageTextsFor(request, texts);
    setPageHeaders(reply).removeHeader('content-length');
    const lines = [`<p>${escapeText(text(`web_${kind}_text`))}</p>`, `<p><a href="/">${escapeText(text('web_home'))}</a></p>`];
    done(null, webPage(language, text(`web_${kind}_title`), lines));
  });
}

// `/unsubscribe/{token}`, the link in broadcast mails (RFC 8058, spec 10 O2). GET shows a page with a button and changes nothing, because mail
// scanners follow links; POST, by the button or by the mail program itself, unsubscribes. Neither needs a sign-in.

export const UNSUBSCRIBE_ROUTE = '/unsubscribe/:token';
/** The body of a mail program is `List-Unsubscribe=One-Click`; the link says everything. */
const BODY_LIMIT = 4_096;

interface UnsubscribeOptions {
  texts: PageTexts;
  isValid: (token: string) => Promise<boolean>;
  /** @returns false when the link is none of this service */
  unsubscribe: (token: string) => Promise<boolean>;
}

type TokenRequest = FastifyRequest<{ Params: { token: string } }>;

export function registerUnsubscribePage(fastify: FastifyInstance, { texts, isValid, unsubscribe }: UnsubscribeOptions): void {
  const page = (request: FastifyRequest, reply: FastifyReply, kind: 'ask' | 'done' | 'invalid', form = '') => {
    const { language, text } = pageTextsFor(request, texts);
    const lines = [`<p>${escapeText(text(`web_unsubscribe_${kind}`))}</p>`];
    if (kind === 'ask') {
      lines.push(`<form method="post" action="${form}"><button>${escapeText(text('web_unsubscribe_button'))}</button></form>`);
    }
    return setPageHeaders(reply, "'self'")
      .code(kind === 'invalid' ? 404 : 200)
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .header('vary', 'Accept-Language')
      .send(webPage(language, text('web_unsubscribe_title'), lines));
  };
  fastify.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, _body, done) => done(null, null));
    scope.get(UNSUBSCRIBE_ROUTE, async (request: TokenRequest, reply) => {
      const { token } = request.params;
      return page(request, reply, (await isValid(token)) ? 'ask' : 'invalid', `/unsubscribe/${encodeURIComponent(token)}`);
    });
    scope.post(UNSUBSCRIBE_ROUTE, async (request: TokenRequest, reply) =>
      page(request, reply, (await unsubscribe(request.params.token)) ? 'done' : 'invalid'),
    );
  });
}
