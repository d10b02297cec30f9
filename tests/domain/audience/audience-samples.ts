import type { App } from '../../../src/core/app.ts';
import { aUser, type BuiltUser } from '../../support/builders.ts';
import { aStoredSubscription, aTariff } from '../subscriptions/sale-samples.ts';

/** A segment that holds exactly these users: one tariff of their own. */
export async function aSegment(app: App, count: number): Promise<{ target: string; users: BuiltUser[] }> {
  const tariffId = await aTariff(app);
  const users: BuiltUser[] = [];
  for (let index = 0; index < count; index++) {
    const user = await aUser(app, { language: 'en' });
    await aStoredSubscription(app, user.id, { tariff_id: tariffId });
    users.push(user);
  }
  return { target: `tariff_${tariffId}`, users };
}

/** The app with a messenger that notes what it sends, or fails. */
export function withMessenger(app: App, fail?: (chatId: number) => void) {
  const sent: { chatId: number; html: string; buttons: readonly (readonly Record<string, unknown>[])[] }[] = [];
  const messenger = {
    ...app.ports.messenger,
    isConfigured: () => true,
    sendMessage: async (chatId: number, html: string, buttons: readonly (readonly unknown[])[] = []) => {
      fail?.(chatId);
      sent.push({ chatId, html, buttons: buttons as (typeof sent)[number]['buttons'] });
      return { messageId: 1 };
    },
  };
  return { app: { ...app, ports: { ...app.ports, messenger } }, sent };
}
