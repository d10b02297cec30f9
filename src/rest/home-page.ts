/** `GET /`: which service this is, its state and where its documentation is (spec 08 C9). A page for browsers, JSON for programs. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

export interface HomeFacts {
  name: string;
  version: string;
  state: 'ready' | 'not ready';
  /** Paths; null while they are off. */
  documentation: string | null;
  sandbox: string | null;
}

const STYLE = 'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}';
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Registers the page. @param facts read for each request; they are public */
export function registerHomePage(fastify: FastifyInstance, facts: () => HomeFacts): void {
  fastify.get('/', (request, reply) => {
    reply.header('cache-control', 'no-cache').header('vary', 'Accept');
    if (!request.headers.accept?.includes('text/html')) return reply.send(facts());
    return reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(page(facts()));
  });
}

function page({ name, version, state, documentation, sandbox }: HomeFacts): string {
  const links = [
    ...(documentation === null ? [] : [`<li><a href="${documentation}">API documentation</a></li>`]),
    ...(sandbox === null ? [] : [`<li><a href="${sandbox}">Sandbox</a></li>`]),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeText(name)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeText(name)}</h1>
<p>Version ${escapeText(version)}, ${state}.</p>
${links.length > 0 ? `<ul>\n${links.join('\n')}\n</ul>\n` : ''}</body>
</html>
`;
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
