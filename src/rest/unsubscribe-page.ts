/**
 * `/unsubscribe/{token}`, the link in broadcast mails (RFC 8058, spec 10 O2). GET shows a page with a button and changes nothing, because mail
 * scanners follow links; POST, by the button or by the mail program itself, unsubscribes. Neither needs a sign-in.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeText, type PageTexts, pageTextsFor, setPageHeaders, webPage } from './web-page.ts';

export const UNSUBSCRIBE_ROUTE = '/unsubscribe/:token';
/** The body of a mail program is `List-Unsubscribe=One-Click`; the link says everything. */
const BODY_LIMIT = 4_096;

export interface UnsubscribeOptions {
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
