/** What is stored about a user and what has reached the outside, so that the end of an operation that was killed compares with that of one that was not. */
import type { App } from '../../../../../src/core/app.ts';
import { DAY_MS } from '../../../../../src/core/clock.ts';
import type { KillFixture } from './kill-fixture.ts';

/** By what it is. No ids and no times, which differ from user to user. */
export type Books = Record<string, unknown>;

/** How often the user got each message, by its text without numbers and addresses. */
type Messages = Record<string, number>;

/** Rows of these depend on time or on when a scheduled job runs. */
const NOT_COUNTED: ReadonlySet<string> = new Set(['domain_events', 'sent_notifications']);

export async function readBooks({ app, fakes }: Pick<KillFixture, 'app' | 'fakes'>, userId: number): Promise<Books> {
  const [stored] = await app.db.sql<{ books: Books; chatId: number }>(BOOKS, [userId]);
  const chat = String(stored!.chatId);
  const messages: Messages = {};
  for (const { chatId, text } of await fakes.messenger.messages()) {
    if (String(chatId) !== chat) continue;
    const form = text.replaceAll(/https?:\S+|\d+/g, '#');
    messages[form] = (messages[form] ?? 0) + 1;
  }
  return { ...stored!.books, messages, rows: await countRows(app, userId) };
}

const BOOKS = `SELECT u.messenger_id::bigint AS chat_id, jsonb_build_object(
  'balance', u.balance_kopeks,
  'movements', (SELECT jsonb_agg(jsonb_build_array(t.type, t.amount_kopeks, t.payment_method, t.is_completed, t.is_internal) ORDER BY t.id)
    FROM transactions t WHERE t.user_id = u.id),
  'accounts', (SELECT jsonb_object_agg(key, kopeks) FROM (SELECT CASE WHEN a.user_id IS NULL THEN a.key ELSE 'user' END AS key, sum(e.kopeks) AS kopeks
    FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id JOIN transactions t ON t.id = e.transaction_id
    WHERE t.user_id = u.id GROUP BY 1) AS sums),
  'payments', (SELECT jsonb_agg(jsonb_build_array(p.method, p.status, p.outcome, p.is_paid, p.amount_kopeks, p.transaction_id IS NOT NULL) ORDER BY p.id)
    FROM payments p WHERE p.user_id = u.id),
  'reversals', (SELECT jsonb_agg(jsonb_build_array(r.status, r.amount_kopeks, r.debited_kopeks, r.reversal_id IS NOT NULL, r.notified_at IS NOT NULL) ORDER BY r.id)
    FROM payment_reversals r JOIN payments p ON p.id = r.payment_id WHERE p.user_id = u.id),
  'callbacks', (SELECT jsonb_agg(replace(c.result, 'already_credited', 'credited') ORDER BY c.id)
    FROM provider_callbacks c JOIN payments p ON p.external_id = c.external_id WHERE p.user_id = u.id),
  'subscription', (SELECT jsonb_build_array(s.status, s.is_trial, (SELECT f.name FROM tariffs f WHERE f.id = s.tariff_id), s.traffic_limit_gb, s.device_limit, s.provision_state,
    extract(epoch FROM s.end_date - s.start_date) * 1000 / ${DAY_MS}, s.subscription_url IS NOT NULL) FROM subscriptions s WHERE s.user_id = u.id),
  'events', (SELECT jsonb_object_agg(type, events) FROM (SELECT e.type, count(*) AS events FROM domain_events e
    WHERE e.user_id = u.id OR e.payload->>'user_id' = u.id::text GROUP BY e.type) AS counts),
  'webhooks', (SELECT jsonb_object_agg(event_type, deliveries) FROM (SELECT d.event_type, count(*) || ' ' || string_agg(DISTINCT d.status, ',') AS deliveries
    FROM webhook_deliveries d WHERE d.payload->>'user_id' = u.id::text GROUP BY d.event_type) AS counts)
) AS books FROM users u WHERE u.id = $1::int`;

/** Rows of the user in each table that names one. */
async function countRows(app: App, userId: number): Promise<Record<string, number>> {
  const tables = await app.db.sql<{ name: string }>(
    `SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND c.column_name = 'user_id' AND t.table_type = 'BASE TABLE' ORDER BY 1`,
  );
  const counted = tables.filter(({ name }) => !NOT_COUNTED.has(name));
  const parts = counted.map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS rows FROM ${name} WHERE user_id = $1::int`);
  const rows = await app.db.sql<{ name: string; rows: number }>(parts.join(' UNION ALL '), [userId]);
  return Object.fromEntries(rows.filter((row) => row.rows > 0).map((row) => [row.name, row.rows]));
}

/** @returns a text for each difference */
export function compareBooks(expected: Books, found: Books): string[] {
  return Object.keys(expected).flatMap((name) => {
    if (name === 'messages') return compareMessages(expected[name] as Messages, found[name] as Messages);
    const [wanted, is] = [JSON.stringify(expected[name]), JSON.stringify(found[name])];
    return wanted === is ? [] : [`${name} ${is}, without a kill ${wanted}`];
  });
}

/**
 * A kill may repeat a message that is sent at least once (spec 05 section 9.3), and lose one of what the service did by itself, which is sent
 * at most once: marked before the call. No other message may come.
 */
function compareMessages(expected: Messages, found: Messages): string[] {
  return [...new Set([...Object.keys(expected), ...Object.keys(found)])].flatMap((text) => {
    const [wanted, is] = [expected[text] ?? 0, found[text] ?? 0];
    return is <= wanted || (wanted > 0 && is === wanted + 1)
      ? []
      : [`message "${text.slice(0, 60)}" came ${is} times, without a kill ${wanted}`];
  });
}

/** What holds for the whole installation whenever nothing is under way. */
export async function checkInstallation({ app, panel, webhooks }: KillFixture): Promise<string[]> {
  const wrong: string[] = [];
  for (const problem of await app.db.sql('SELECT problem, row_id, detail FROM ledger_check()'))
    wrong.push(`ledger check: ${JSON.stringify(problem)}`);
  const [count] = await app.db.sql<{ deliveries: number }>(
    "SELECT count(*)::int AS deliveries FROM webhook_deliveries WHERE status = 'success'",
  );
  if (count!.deliveries !== webhooks.deliveries.size)
    wrong.push(`${count!.deliveries} deliveries of webhooks, the receiver has ${webhooks.deliveries.size}`);
  const pushed = await app.db.sql<{ id: number; url: string | null; endDate: Date }>(
    'SELECT id, subscription_url AS url, end_date FROM subscriptions ORDER BY id',
  );
  const users = new Map(panel.listUsers(Number.MAX_SAFE_INTEGER).map((user) => [user.subscriptionUrl, user]));
  if (users.size !== pushed.length) wrong.push(`${pushed.length} subscriptions, but the panel has ${users.size} users`);
  for (const { id, url, endDate } of pushed) {
    const user = url === null ? undefined : users.get(url);
    if (user === undefined || Date.parse(user.expireAt) !== endDate.getTime())
      wrong.push(`subscription ${id} ends ${endDate.toISOString()}, at the panel ${user?.expireAt ?? 'it has no user'}`);
  }
  return wrong;
}
