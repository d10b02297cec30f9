/**
 * `/docs`, `/redoc` and `/openapi.json`. The viewers are files of packages, which the build copies beside the bundle (`scripts/build.ts`):
 * the pages request nothing from other hosts.
 * Scripts are files, so the content policy needs no exception for inline code; the two viewers do write inline styles.
 */
import { createReadStream, existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Mount, mountedUrl } from './interface-words/interface-words.ts';

export interface DocsOptions {
  /** `IS_DOCS_ENABLED`, read for each request; while it is off the pages are 404. */
  isEnabled: () => boolean;
  /** Title of the pages and the document, read for each request. */
  title: () => string;
  /** The document in JSON, on the mount in the words of its clients. */
  document: (title: string, mount: Mount | undefined) => Promise<string>;
}

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const swaggerStart = (prefix: string): string => `window.ui = SwaggerUIBundle({
  url: '${prefix}/openapi.json',
  dom_id: '#view',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  tagsSorter: 'alpha',
  validatorUrl: null,
});
`;

const redocStart = (
  prefix: string,
): string => `Redoc.init('${prefix}/openapi.json', { disableSearch: false, nativeScrollbars: true }, document.getElementById('view'));
`;

/** The viewer's only request to another host, for a logo. The policy would block it; this removes it. */
const REMOTE_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

const REDOC_FILE = 'redoc/bundles/redoc.standalone.js';
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const HOUR_SECONDS = 3_600;

/** A file of a viewer: the copy beside the bundle, or that of the package when the sources are run. */
function viewerFile(file: string): string {
  const copy = join(import.meta.dirname, 'docs', basename(file));
  return existsSync(copy) ? copy : createRequire(import.meta.url).resolve(file);
}

/** Registers the pages on the root instance. */
export function registerDocsPages(fastify: FastifyInstance, options: DocsOptions): void {
  let redoc: string | undefined;

  const serve = (url: string, answer: (reply: FastifyReply) => unknown): void => {
    fastify.get(url, { config: { isOnMount: true } }, (_request: FastifyRequest, reply: FastifyReply) => {
      if (!options.isEnabled()) return reply.code(404).send({ detail: 'Not Found' });
      return answer(reply);
    });
  };
  const servePage = (url: string, ...files: [scripts: readonly string[], style?: string]): void =>
    serve(url, (reply) =>
      reply
        .header('content-security-policy', PAGE_POLICY)
        .header('cache-control', 'no-cache')
        .type('text/html; charset=utf-8')
        .send(page(options.title(), reply.request.mount?.prefix ?? '', ...files)),
    );
  const serveScript = (url: string, script: (prefix: string) => string): void =>
    serve(url, (reply) =>
      reply
        .header('cache-control', 'no-cache')
        .type(JAVASCRIPT)
        .send(script(reply.request.mount?.prefix ?? '')),
    );
  const serveFile = (url: string, type: string, file: string): void =>
    serve(url, async (reply) => {
      const path = viewerFile(file);
      const { size } = await stat(path);
      const cached = reply.header('cache-control', `public, max-age=${HOUR_SECONDS}`).header('content-length', size);
      return cached.type(type).send(createReadStream(path));
    });

  serve('/openapi.json', async (reply) => {
    const text = await options.document(options.title(), reply.request.mount);
    return reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(text);
  });
  serve('/doc', (reply) => reply.redirect(mountedUrl(reply, '/docs'), 307));

  servePage('/docs', ['/docs/swagger-ui-bundle.js', '/docs/start.js'], '/docs/swagger-ui.css');
  serveScript('/docs/start.js', swaggerStart);
  serveFile('/docs/swagger-ui-bundle.js', JAVASCRIPT, 'swagger-ui-dist/swagger-ui-bundle.js');
  serveFile('/docs/swagger-ui.css', 'text/css; charset=utf-8', 'swagger-ui-dist/swagger-ui.css');
  serveFile('/docs/favicon.png', 'image/png', 'swagger-ui-dist/favicon-32x32.png');

  servePage('/redoc', ['/redoc/redoc.standalone.js', '/redoc/start.js']);
  serveScript('/redoc/start.js', redocStart);
  serve('/redoc/redoc.standalone.js', async (reply) => {
    redoc ??= (await readFile(viewerFile(REDOC_FILE), 'utf8')).replaceAll(REMOTE_LOGO, 'data:,');
    return reply.header('cache-control', `public, max-age=${HOUR_SECONDS}`).type(JAVASCRIPT).send(redoc);
  });
}

function page(title: string, prefix: string, scripts: readonly string[], style?: string): string {
  const safeTitle = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${safeTitle}</title>
<link rel="icon" type="image/png" href="${prefix}/docs/favicon.png">
${style ? `<link rel="stylesheet" href="${prefix}${style}">\n` : ''}</head>
<body>
<div id="view"></div>
${scripts.map((script) => `<script src="${prefix}${script}"></script>`).join('\n')}
</body>
</html>
`;
}
