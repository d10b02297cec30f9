/** Address and credentials of the panel, read for every call because settings change at run time (spec 06 section 9). */
export interface PanelConnection {
  /** `VPNPANEL_API_URL`, with or without a trailing slash. */
  baseUrl: string | null;
  apiKey: string | null;
  /** `api_key` and `bearer` are one mode, `basic` and `basic_auth` too; anything else counts as `api_key`. */
  authType: string;
  username: string | null;
  password: string | null;
  caddyToken: string | null;
  /** Cookie that a protected panel requires: `name:value`, or one text that is both. */
  secretKey: string | null;
}

/** @returns which settings are missing, or null when calls can be made */
export function connectionError(connection: PanelConnection): string | null {
  const missing = [
    connection.baseUrl?.trim() ? null : 'VPNPANEL_API_URL',
    connection.apiKey?.trim() ? null : 'VPNPANEL_API_KEY',
  ].filter((name) => name !== null);
  if (missing.length === 0) return null;
  return missing.length === 1 ? `${missing[0]} is not set` : `${missing.join(' and ')} are not set`;
}

/** The base URL as administrators may see it: without user name, password, query and trailing slash; null for no URL. */
export function shownUrl(connection: PanelConnection): string | null {
  const text = connection.baseUrl?.trim() ?? '';
  if (!URL.canParse(text)) return null;
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`.replace(/\/+$/, '');
}

/**
 * Headers of a call. The panel refuses calls without the headers of a TLS proxy, hence the fixed
 * forwarding headers. TLS verification stays on for every host (spec 06 section 17, hazard 17).
 */
export function connectionHeaders(connection: PanelConnection): Record<string, string> {
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '127.0.0.1',
    'x-real-ip': '127.0.0.1',
    ...(isLocalHost(connection.baseUrl ?? '') ? { 'x-forwarded-host': 'localhost' } : {}),
    ...authHeaders(connection),
    ...cookieHeader(connection.secretKey),
  };
}

function authHeaders(connection: PanelConnection): Record<string, string> {
  const key = connection.apiKey?.trim() ?? '';
  const mode = connection.authType.trim().toLowerCase();
  if ((mode === 'basic' || mode === 'basic_auth') && connection.username && connection.password) {
    const pair = Buffer.from(`${connection.username}:${connection.password}`, 'utf8').toString('base64');
    return { 'x-api-key': `Basic ${pair}` };
  }
  if (mode === 'caddy' && connection.caddyToken) {
    return { authorization: `Bearer ${key}`, 'x-api-key': connection.caddyToken };
  }
  return { authorization: `Bearer ${key}`, 'x-api-key': key };
}

function cookieHeader(secretKey: string | null): Record<string, string> {
  const secret = secretKey?.trim();
  if (!secret) return {};
  const colon = secret.indexOf(':');
  const [name, value] = colon < 0 ? [secret, secret] : [secret.slice(0, colon), secret.slice(colon + 1)];
  return { cookie: `${name}=${value}` };
}

/** Loopback, private IPv4, dotless (container) and `.local` hosts: there is no proxy in front that would set the host. */
function isLocalHost(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const host = new URL(baseUrl).hostname;
  if (host === '[::1]' || host.endsWith('.local') || !/[.:]/.test(host)) return true;
  return /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(host) && /^[\d.]+$/.test(host);
}
