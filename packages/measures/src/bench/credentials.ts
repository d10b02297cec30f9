/** Credentials with which the load of benchmarks and drills calls an instance that was started with `CREDENTIAL_ENVIRONMENT`. */
import { SignJWT } from 'jose';

const JWT_SECRET = 'loopback-only-loopback-only-loopback-only';
const DEFAULT_TOKEN = 'loopback-first-token-of-a-decent-length';
const JWT_HOURS = 12;

export const CREDENTIAL_ENVIRONMENT = { CABINET_JWT_SECRET: JWT_SECRET, WEB_API_DEFAULT_TOKEN: DEFAULT_TOKEN };

/** Access tokens of the cabinet, by user id. */
export async function signTokens(userIds: readonly number[], hours = JWT_HOURS): Promise<Map<number, string>> {
  const key = Buffer.from(JWT_SECRET);
  const tokens = new Map<number, string>();
  for (const id of userIds) {
    const token = await new SignJWT({ type: 'access', permissions: [], roles: [] })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(String(id))
      .setIssuedAt()
      .setExpirationTime(`${hours}h`)
      .sign(key);
    tokens.set(id, token);
  }
  return tokens;
}

/** Creates an API token at a running instance. */
export async function makeToken(url: string, name: string): Promise<string> {
  const response = await fetch(`${url}/tokens`, {
    method: 'POST',
    headers: { 'x-api-key': DEFAULT_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  if (!response.ok) throw new Error(`no API token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { token: string }).token;
}
