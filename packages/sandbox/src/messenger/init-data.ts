import { createHmac } from 'node:crypto';

export interface SandboxMessengerUser {
  id: number;
  first_name: string;
  last_name?: string;
  username?: string;
  language_code?: string;
}

/**
 * Signs mini-app identity data as the messenger does (spec 01 section 3): HMAC-SHA256 over the sorted pairs, keyed by
 * HMAC-SHA256("WebAppData", bot token).
 * @param authDate moment of the simulated sign-in
 * @returns the query string a mini-app hands to the service
 */
export function signInitData(botToken: string, user: SandboxMessengerUser, authDate: Date, startParameter?: string): string {
  const pairs: [string, string][] = [
    ['auth_date', String(Math.floor(authDate.getTime() / 1_000))],
    ['query_id', `SANDBOX${user.id}`],
    // The messenger adds a public-key signature for third parties; it is not checked here, but the HMAC covers it.
    ['signature', createHmac('sha512', botToken).update(String(user.id)).digest('base64url')],
    ...(startParameter === undefined ? [] : [['start_param', startParameter] as [string, string]]),
    ['user', JSON.stringify(user)],
  ];
  const checkString = pairs
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join('\n');
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const hash = createHmac('sha256', key).update(checkString).digest('hex');
  return new URLSearchParams([...pairs, ['hash', hash]]).toString();
}
