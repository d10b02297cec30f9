import type { App } from '../../src/core/app.ts';
import type { SendOptions } from '../../src/domain/messaging/ports.ts';
import { aUser, type BuiltUser, unique } from './builders.ts';
import { aStoredSubscription, aTariff } from './sale-samples.ts';

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

/** Many users by one statement, without messenger and address. @param values numbers for columns of theirs @returns their ids */
export async function aCrowd(app: App, count: number, values: Record<string, number> = {}): Promise<number[]> {
  const model = await aUser(app);
  const notCopied = ['id', 'referral_code', 'email', 'messenger_id', 'username', 'vpnpanel_uuid'];
  const columns = await app.db.sql<{ name: string }>(
    `SELECT quote_ident(column_name) AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'users'
       AND is_generated = 'NEVER' AND column_name <> ALL($1::text[]) AND column_name NOT LIKE '%_id'`,
    [notCopied],
  );
  const names = [...columns.map(({ name }) => name), ...Object.keys(values)].join(', ');
  const picked = [...columns.map(({ name }) => name), ...Object.values(values)].join(', ');
  const rows = await app.db.sql<{ id: number }>(
    `INSERT INTO users (referral_code, ${names}) SELECT $1 || g, ${picked} FROM users, generate_series(1, $2::int) g
     WHERE id = $3::int RETURNING id`,
    [`crowd${unique()}x`, count, model.id],
  );
  return rows.map(({ id }) => id);
}

/** The app with a messenger that notes what it sends, or fails. */
export function withMessenger(app: App, fail?: (chatId: number) => void) {
  const sent: { chatId: number; html: string; buttons: readonly (readonly Record<string, unknown>[])[] }[] = [];
  const messenger = {
    ...app.ports.messenger,
    isConfigured: () => true,
    sendMessage: async (chatId: number, html: string, { buttons = [] }: SendOptions = {}) => {
      fail?.(chatId);
      sent.push({ chatId, html, buttons: buttons as (typeof sent)[number]['buttons'] });
      return { messageId: 1 };
    },
  };
  return { app: { ...app, ports: { ...app.ports, messenger } }, sent };
}
