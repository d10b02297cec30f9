import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Browser } from '../routers/context.ts';

/** Form of the values that the service sets: url-safe base64. Any other value under these names is ignored. */
const COOKIE_VALUE = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * The cookie side of a request.
 * @param isSecure do browsers reach the cabinet over https? Browsers drop a Secure cookie over http, so the flag follows the cabinet's address
 */
export function browserOf(request: FastifyRequest, reply: FastifyReply, isSecure: () => boolean): Browser {
  const { headers } = request;
  return {
    isSameOrigin: headers['sec-fetch-site'] === 'same-origin',
    readCookie: (name) => readCookie(headers.cookie, name),
    setCookie: (name, value, maxAgeSeconds) => {
      const secure = isSecure() ? '; Secure' : '';
      reply.header('set-cookie', `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`);
    },
  };
}

/** The last cookie of this name in a `Cookie` header; null when there is none of the form that the service sets. */
export function readCookie(header: string | undefined, name: string): string | null {
  if (header === undefined) return null;
  let found: string | null = null;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at < 0 || pair.slice(0, at).trim() !== name) continue;
    const value = pair.slice(at + 1).trim();
    found = COOKIE_VALUE.test(value) ? value : null;
  }
  return found;
}
