import type { App } from '../../core/app.ts';
import type { MessengerButton } from '../messaging/ports.ts';
import { text } from '../messaging/texts.ts';
import { webAppBase } from '../messaging/web-app.ts';
import { BUTTON_ROWS, type ButtonKey } from './rules.ts';
import type { BroadcastRow } from './types.ts';

/** What a button calls in the chat, and its page in the web app (spec 05 section 3.4). */
const ACTIONS: Readonly<Record<ButtonKey, { callback: string; page: string | null }>> = {
  balance: { callback: 'balance_topup', page: '/balance/top-up' },
  referrals: { callback: 'menu_referrals', page: '/referral' },
  promocode: { callback: 'menu_promocode', page: '/balance' },
  connect: { callback: 'subscription_connect', page: '/subscription' },
  subscription: { callback: 'menu_subscription', page: '/subscription' },
  support: { callback: 'menu_support', page: '/support' },
  home: { callback: 'back_to_menu', page: null },
};

/** Label of a button in a language. */
export function buttonLabel(language: string | null, key: ButtonKey): string {
  return text(language, `broadcasts.button_${key}`);
}

/** Buttons under a broadcast for readers of a language: the selected standard ones in their rows, then the custom ones, one a row. */
export function keyboardOf(
  app: App,
  broadcast: Pick<BroadcastRow, 'selectedButtons' | 'customButtons'>,
  language: string | null,
): MessengerButton[][] {
  const webApp = webAppBase(app);
  const standard = BUTTON_ROWS.map((row) =>
    row.flatMap((key) => (broadcast.selectedButtons.includes(key) ? [standardButton(key, language, webApp)] : [])),
  );
  const custom = broadcast.customButtons.map(({ label, actionType, actionValue }): MessengerButton[] => [
    actionType === 'url' ? { text: label, url: actionValue } : { text: label, callbackData: actionValue },
  ]);
  return [...standard.filter((row) => row.length > 0), ...custom];
}

function standardButton(key: ButtonKey, language: string | null, webApp: string | null): MessengerButton {
  const { callback, page } = ACTIONS[key];
  const label = buttonLabel(language, key);
  return webApp !== null && page !== null
    ? { text: label, webAppUrl: `${webApp}${page}` }
    : { text: label, callbackData: callback };
}
