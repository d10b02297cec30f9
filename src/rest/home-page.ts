/**
 * `GET /`: which service this is, its state, what runs and where its documentation is (spec 08 C9, spec 10 K7). A page for browsers, JSON for
 * programs. Also the pages in place of JSON for what a person meets in a browser: nothing there, not allowed, not now.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  escapeText,
  type PageText,
  type PageTexts,
  pageTextsFor,
  setPageHeaders,
  varyByBrowser,
  wantsPage,
  webPage,
} from './web-page.ts';

export interface HomeFacts {
  name: string;
  version: string;
  state: 'ready' | 'not ready';
  /** Paths; null while they are off. */
  documentation: string | null;
  sandbox: string | null;
}

export interface HomeOptions {
  /** Read for each request; they are public. */
  facts: () => HomeFacts;
  /** Kinds of outside systems that are fakes. */
  fakes: () => readonly string[];
  texts: PageTexts;
}

const DAY_SECONDS = 86_400;
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b6ef6"/><path d="M16 6l8 3v7c0 5-3.4 8.6-8 10-4.6-1.4-8-5-8-10V9z" fill="#fff"/><path d="M12 16l3 3 5-6" fill="none" stroke="#3b6ef6" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** Registers the page and the icon of the pages. */
export function registerHomePage(fastify: FastifyInstance, { facts, fakes, texts }: HomeOptions): void {
  fastify.get('/', (request, reply) => {
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
    `<p>${escapeText(text('web_version', { version }))} · ${escapeText(text(state === 'ready' ? 'web_ready' : 'web_not_ready'))}</p>`,
    `<p>${escapeText(fakes.length > 0 ? text('web_fakes', { kinds: fakes.join(', ') }) : text('web_real'))}</p>`,
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
