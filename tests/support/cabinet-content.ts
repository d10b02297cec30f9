import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callService, linkInMail } from './example-cabinet.ts';

/** What an operator sets up in a service before customers of the example cabinet come, over the interface. */

const POLL_REWARD_KOPEKS = 5_000;

export type Headers = Record<string, string>;

export interface Operator {
  call<Answer>(method: string, path: string, headers: Headers, body?: object): Promise<Answer>;
  /** The first API token. */
  asToken: Headers;
  /** @returns headers of the calls of a new user whose e-mail is verified */
  signUp(email: string, password: string): Promise<Headers>;
}

export interface SessionAnswer {
  access_token: string;
}

/** @param dataDir of the service, which stores its first API token there */
export async function operatorOf(serviceUrl: string, dataDir: string): Promise<Operator> {
  const call = <Answer>(method: string, path: string, headers: Headers, body?: object) =>
    callService<Answer>(serviceUrl, method, path, headers, body);
  const asToken = { 'x-api-key': (await readFile(join(dataDir, 'api-token'), 'utf8')).trim() };
  async function signUp(email: string, password: string): Promise<Headers> {
    await call('POST', '/cabinet/auth/email/register/standalone', {}, { email, password, language: 'ru' });
    const token = new URL(await linkInMail(serviceUrl, email, 'verify-email')).searchParams.get('token');
    const { access_token } = await call<SessionAnswer>('POST', '/cabinet/auth/email/verify', {}, { token });
    return { authorization: `Bearer ${access_token}` };
  }
  return { call, asToken, signUp };
}

/** Tariffs with additions, gifts, a wheel with prizes, a promo code and a contest. */
export async function addContent({ call, asToken }: Operator, asOwner: Headers): Promise<void> {
  await call('PUT', '/cabinet/admin/tariffs/1', asOwner, {
    traffic_topup_enabled: true,
    traffic_topup_packages: { 10: 5_000, 50: 20_000 },
    device_price_kopeks: 10_000,
    max_device_limit: 5,
  });
  await call('POST', '/cabinet/admin/tariffs', asOwner, {
    name: 'Семейный',
    description: 'Для всех устройств дома',
    tier_level: 2,
    device_limit: 3,
    period_prices: [{ days: 30, price_kopeks: 150_000 }],
  });
  await call('PATCH', '/cabinet/branding/gift-enabled', asOwner, { enabled: true });
  await call('PUT', '/cabinet/admin/wheel/config', asOwner, {
    is_enabled: true,
    spin_cost_days: 1,
    min_subscription_days_for_day_payment: 1,
    rtp_percent: 80,
  });
  for (const [prize_type, prize_value, display_name, emoji, color] of [
    ['balance_bonus', 1_000, '10 рублей', '💰', '#2f6fde'],
    ['nothing', 0, 'В другой раз', '🍀', '#8a8f98'],
    ['traffic_gb', 5, '5 ГБ', '📶', '#1f9d6b'],
  ]) {
    const prize = { prize_type, prize_value, display_name, emoji, color, prize_value_kopeks: prize_value };
    await call('POST', '/cabinet/admin/wheel/prizes', asOwner, prize);
  }
  await call('POST', '/promo-codes', asToken, { code: 'WELCOME', type: 'balance', balance_bonus_kopeks: 10_000, max_uses: 10 });
  const { items } = await call<{ items: { id: number; slug: string }[] }>('GET', '/contests/daily/templates', asToken);
  const quest = items.find(({ slug }) => slug === 'quest_buttons')!;
  await call('PATCH', `/contests/daily/templates/${quest.id}`, asToken, { is_enabled: true });
  await call('POST', `/contests/daily/templates/${quest.id}/start-round`, asToken, { force: true });
}

/** Sends a poll to the users that there are. */
export async function sendPoll({ call, asToken }: Operator): Promise<void> {
  const { id } = await call<{ id: number }>('POST', '/polls', asToken, {
    title: 'Как вам сервис?',
    description: 'Два вопроса, одна минута',
    reward_enabled: true,
    reward_amount_kopeks: POLL_REWARD_KOPEKS,
    questions: [
      { text: 'Скорость?', options: [{ text: 'Отличная' }, { text: 'Так себе' }] },
      { text: 'Поддержка?', options: [{ text: 'Помогает' }, { text: 'Не нужна' }] },
    ],
  });
  await call('POST', `/polls/${id}/send`, asToken, { target: 'all' });
}
