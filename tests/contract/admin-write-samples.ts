/** What an administrator's request works on, made for one request each. */
import type { App } from '../../src/core/app.ts';
import { activatePromocode } from '../../src/domain/promo/codes/activate-promocode.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import type { ActorClient } from '../support/actors.ts';
import { aUser, unique } from '../support/builders.ts';
import { aDiscountCode } from '../support/promocode-samples.ts';
import { aSubscription, NETHERLANDS } from '../support/provisioning-setup.ts';
import { rowOf } from '../support/sale-samples.ts';
import { workerSandbox } from '../support/test-sandbox.ts';

export interface Fixture {
  app: App;
  /** Holds every permission. */
  boss: ActorClient;
}

/** Area of the administrators; the tables tell paths without it. */
export const ADMIN = '/cabinet/admin';

export interface AdminWrite {
  /**
   * What the audit row must tell: `change` before and after, which differ; `creation` after; `deletion` before; `summary` after
   * alone, for work on many rows of which it tells the numbers.
   */
  kind: 'change' | 'creation' | 'deletion' | 'summary';
  request: (fixture: Fixture) => Promise<{ path: string; body?: unknown }>;
}

/** Id of what a request of the boss made. */
export async function made(fixture: Fixture, path: string, body: unknown): Promise<number> {
  const reply = await fixture.boss.post(path, body);
  if (reply.status !== 200) throw new Error(`${path}: ${reply.text}`);
  return reply.body.id;
}

/** A user with a subscription that the panel knows. */
export async function aPanelUser({ app }: Fixture): Promise<{ id: number; subscriptionId: number; uuid: string }> {
  const { id: subscriptionId, user } = await aSubscription(app, { squads: [NETHERLANDS] });
  await pushSubscription(app, subscriptionId);
  const { uuid } = await rowOf<{ uuid: string }>(app, 'SELECT vpnpanel_uuid::text AS uuid FROM users WHERE id = $1::int', [
    user.id,
  ]);
  return { id: user.id, subscriptionId, uuid };
}

/** A panel user with a device. */
export async function aDeviceOwner(fixture: Fixture): Promise<{ id: number; hwid: string }> {
  const { id, uuid } = await aPanelUser(fixture);
  const hwid = `device-${unique()}`;
  (await workerSandbox()).servers.panel.addDevice(uuid, hwid);
  return { id, hwid };
}

/** A user who has an active discount from a promo code. */
export async function aDiscountHolder({ app }: Fixture): Promise<number> {
  const user = await aUser(app);
  const code = await aDiscountCode(app);
  await activatePromocode(app, { kind: 'user', userId: user.id }, code.code, null);
  return user.id;
}

/** A ticket with an unread row for the administrators. */
export async function aTicket({ app }: Fixture): Promise<{ id: number; notificationId: number }> {
  const user = await aUser(app);
  return rowOf(
    app,
    `WITH ticket AS (INSERT INTO tickets (user_id, title, last_user_message_at) VALUES ($1::int, 'Help', now()) RETURNING id),
     message AS (INSERT INTO ticket_messages (ticket_id, user_id, message_text) SELECT id, $1::int, 'Help' FROM ticket),
     notice AS (
       INSERT INTO ticket_notifications (ticket_id, user_id, notification_type, message, is_for_admin)
       SELECT id, $1::int, 'new_ticket', 'Help', true FROM ticket RETURNING id)
     SELECT (SELECT id FROM ticket) AS id, (SELECT id FROM notice) AS "notificationId"`,
    [user.id],
  );
}

export async function aServer({ app }: Fixture): Promise<number> {
  const row = await rowOf<{ id: number }>(
    app,
    "INSERT INTO server_squads (squad_uuid, display_name, is_available) VALUES (gen_random_uuid()::text, 'A server', true) RETURNING id",
  );
  return row.id;
}
