export interface SandboxRequest {
  method: string;
  /** Path below the host, for example `/sandbox/api/state`. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

export interface SandboxReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
}

/** A header that pages of other origins cannot set without a preflight, so that they cannot send these requests. */
export const GUARD_HEADER = 'x-sandbox-page';

const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

export function json(status: number, value: unknown): SandboxReply {
  return reply(status, 'application/json', JSON.stringify(value));
}

export function notAllowed(allow: string): SandboxReply {
  const answer = json(405, { detail: 'Method Not Allowed' });
  return { ...answer, headers: { ...answer.headers, allow } };
}

export function reply(status: number, contentType: string, body: string | Buffer): SandboxReply {
  return { status, headers: { ...SECURITY_HEADERS, 'content-type': contentType }, body };
}
