import { afterEach, beforeEach } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import type { DeliveryRequest } from '../../../src/domain/webhooks/deliver-webhook.ts';
import { createWebhook } from '../../../src/domain/webhooks/manage-webhooks.ts';
import type { Webhook } from '../../../src/domain/webhooks/types.ts';
import { createWebhookTransport } from '../../../src/integrations/webhooks/webhook-transport.ts';
import { inventEvents } from '../../support/recorded-events.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import { type Receiver, startReceiver } from '../../support/webhook-receiver.ts';

export const actor = { kind: 'system', name: 'test' } as const;
export const payload = { user_id: 7, first_name: 'Жанна "Ж" </b>', amount_rubles: 1.5, nothing: null };

/** Created for each test by `prepareDeliveryFixture`. */
export let app: App;
export let clock: TestClock;
export let receiver: Receiver;
const receivers: Receiver[] = [];

/** Provides each test of a file with an app that may reach loopback, one receiver, and no webhook or job of another test. */
export function prepareDeliveryFixture(): void {
  beforeEach(async () => {
    const made = await testApp({ environment: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } });
    clock = made.clock;
    app = withTransport(made.app, ['127.0.0.1']);
    await app.db.sql('DELETE FROM webhooks');
    await app.db.sql('DELETE FROM jobs.job');
    receiver = await newReceiver();
  });
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map((each) => each.close()));
  });
}

export async function newReceiver(): Promise<Receiver> {
  const made = await startReceiver();
  receivers.push(made);
  return made;
}

export function withTransport(base: App, allowedPrivateHosts: string[], totalTimeoutMs = 60_000): App {
  return { ...base, ports: { ...base.ports, webhooks: createWebhookTransport({ allowedPrivateHosts, totalTimeoutMs }) } };
}

type WebhookFields = { url?: string; secret?: string | null; eventType?: 'user.created' | 'ticket.created' };

export async function aWebhook(fields: WebhookFields = {}): Promise<Webhook> {
  return createWebhook(app, actor, {
    name: 'Hook',
    url: fields.url ?? receiver.url,
    eventType: fields.eventType ?? 'user.created',
    secret: fields.secret ?? null,
    description: null,
  });
}

/** Emits an event of the type. @returns id of the delivery for the webhook */
export async function emit(webhookId: number, type = 'user.created'): Promise<number> {
  inventEvents();
  await app.db.sql("SELECT emit_event($1, $2::jsonb, 'feed', 7, $3::timestamptz) AS id", [
    type,
    JSON.stringify(payload),
    clock.now(),
  ]);
  const [row] = await app.db.sql<{ id: number }>('SELECT max(id) AS id FROM webhook_deliveries WHERE webhook_id = $1', [
    webhookId,
  ]);
  return row!.id;
}

/** Waiting jobs and how many milliseconds from now each starts. */
export async function waitingJobs(): Promise<{ data: DeliveryRequest; inMs: number }[]> {
  return app.db.sql(
    `SELECT data, (extract(epoch FROM start_after - created_on) * 1000)::int AS "inMs" FROM jobs.job
     WHERE name = 'webhooks.deliver' AND state = 'created' ORDER BY created_on, ctid`,
  );
}

export async function lastJob(): Promise<{ data: DeliveryRequest; inMs: number }> {
  return (await waitingJobs()).at(-1)!;
}
