import { createHmac } from 'node:crypto';
import type { User } from 'grammy/types';

/**
 * Launch data of a mini-app, as the messenger signs it: the bot may sign for its users, since it received who they are from the
 * messenger itself. Never sign for an id that came from anywhere else.
 */
export function signInitData(botToken: string, user: User): string {
  const pairs: [string, string][] = [
    ['auth_date', String(Math.floor(Date.now() / 1_000))],
    ['user', JSON.stringify(user)],
  ];
  const text = pairs
    .map((pair) => pair.join('='))
    .sort()
    .join('\n');
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const hash = createHmac('sha256', key).update(text).digest('hex');
  return new URLSearchParams([...pairs, ['hash', hash]]).toString();
}
