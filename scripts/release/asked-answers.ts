/** What a release answers to questions that every later release is asked again. */
import { createRequester } from '../../packages/measures/src/demo/http.ts';
import { type RetainedCredentials, signIn } from './release-past.ts';

export interface AskedAnswer {
  /** Whose credential was sent. */
  as: 'operator' | 'user';
  path: string;
  body: unknown;
}

/** Lists by their first 200 entries; the transactions are those until a time. */
const QUESTIONS: readonly Omit<AskedAnswer, 'body'>[] = [
  ...['/users?limit=200', '/subscriptions?limit=200', '/transactions?limit=200', '/tickets?limit=200'],
  ...['/promo-codes', '/campaigns', '/promo-groups', '/webhooks', '/tokens', '/settings', '/servers'],
].map((path) => ({ as: 'operator' as const, path }));
const OF_USERS: readonly Omit<AskedAnswer, 'body'>[] = [
  ...['/cabinet/auth/me', '/cabinet/balance', '/cabinet/balance/transactions', '/cabinet/subscription'],
  ...['/cabinet/tickets', '/cabinet/gift/sent', '/cabinet/referral', '/cabinet/notifications'],
].map((path) => ({ as: 'user' as const, path }));

/**
 * @param until end of the list of transactions, ISO 8601
 * @throws Error where one of the credentials or questions is refused
 */
export async function askAll(url: string, credentials: RetainedCredentials, until: string): Promise<AskedAnswer[]> {
  const operator = createRequester(url, { 'x-api-key': credentials.apiToken });
  const user = await signIn(url, credentials);
  const answers: AskedAnswer[] = [];
  for (const { as, path } of [...QUESTIONS, ...OF_USERS]) {
    const bounded = path.startsWith('/transactions') ? `${path}&date_to=${until}` : path;
    const { status, body } = await (as === 'operator' ? operator : user).get(bounded);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body).slice(0, 500)}`);
    answers.push({ as, path, body });
  }
  return answers;
}
