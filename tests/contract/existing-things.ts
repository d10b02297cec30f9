/** Things that exist, by the name under which paths call them, and bodies that are accepted where a schema's example is not. */

import type { App } from '../../src/core/app.ts';
import { uploadAsToken } from '../../src/domain/media/upload-media.ts';
import type { ApiClient } from '../support/api.ts';
import { type BuiltUser, unique } from '../support/builders.ts';
import { aRound, templateOf } from '../support/contest-samples.ts';
import { aPng } from '../support/media-samples.ts';
import { aPromocode } from '../support/promocode-samples.ts';
import { NETHERLANDS } from '../support/provisioning-setup.ts';
import { aServer, aStoredSubscription, topUp } from '../support/sale-samples.ts';
import { DUTCH_NODE } from '../support/vpnpanel-setup.ts';

export interface Existing {
  app: App;
  api: ApiClient;
  user: BuiltUser;
}

/** What makes a new thing at this path of the Web API. */
export const NEW_BODIES: Record<string, () => object> = {
  '/tokens': () => ({ name: `Till ${unique()}` }),
  '/webhooks': () => ({
    name: 'Till',
    url: 'https://example.com/hook',
    event_type: 'user.created',
    secret: 'whsec-never-in-a-log',
  }),
  '/promo-groups': () => ({ name: `Group ${unique()}` }),
  '/promo-codes': () => ({ code: `CODE${unique()}`, type: 'balance', balance_bonus_kopeks: 100 }),
  '/campaigns': () => ({ name: 'Spring', start_parameter: `slug_${unique()}`, bonus_type: 'none' }),
  '/servers': () => ({ squadUuid: crypto.randomUUID(), displayName: 'NL' }),
  '/pages/faq': () => ({ title: 'How?', content: 'So.' }),
  '/main-menu/buttons': () => ({ text: 'News', action_type: 'url', action_value: 'https://example.com' }),
  '/main-menu/messages': () => ({ message_text: 'Hello' }),
  '/welcome-texts': () => ({ text: 'Hello' }),
  '/pinned-messages': () => ({ content: 'Hello' }),
  '/broadcasts': () => ({ target: 'all', message_text: 'Maintenance tonight' }),
  '/contests/referral': () => ({
    title: 'Bring your friends',
    start_at: '2020-01-01T00:00:00',
    end_at: '2020-02-01T00:00:00',
    is_active: false,
  }),
  '/polls': () => ({ title: 'Well?', questions: [{ text: 'So?', options: [{ text: 'Yes' }, { text: 'No' }] }] }),
};

/** Accepted by the operation of this path; undefined = the schema's example serves. */
export function acceptedBody(name: string): object | undefined {
  const [method, path] = name.split(' ') as [string, string];
  return method === 'POST' ? NEW_BODIES[path]?.() : undefined;
}

const aPicture = { kind: 'photo', filename: 'a.png', content: aPng(), caption: null };

const makerAt =
  (path: string) =>
  async ({ api }: Existing): Promise<number> => {
    const reply = await api.post(path, NEW_BODIES[path]!());
    if (reply.status >= 300) throw new Error(`${path}: ${reply.text}`);
    return reply.body.id;
  };

async function firstButton({ api }: Existing): Promise<string> {
  const { rows } = (await api.get('/menu-layout')).body as { rows: { buttons: string[] }[] };
  return rows.flatMap((row) => row.buttons)[0]!;
}

const BY_PARAMETER: Record<string, (fixture: Existing) => string | number | Promise<string | number>> = {
  token_id: makerAt('/tokens'),
  webhook_id: makerAt('/webhooks'),
  group_id: makerAt('/promo-groups'),
  promocode_id: async ({ app }) => (await aPromocode(app)).id,
  campaign_id: makerAt('/campaigns'),
  contest_id: makerAt('/contests/referral'),
  poll_id: makerAt('/polls'),
  round_id: async ({ app }) => (await aRound(app)).id,
  broadcast_id: makerAt('/broadcasts'),
  file_id: async ({ app }) => (await uploadAsToken(app, aPicture)).file.fileId,
  server_id: async ({ app }) => (await aServer(app)).id,
  user_id: ({ user }) => user.id,
  messenger_id: ({ user }) => String(user.messengerId),
  node_uuid: () => DUTCH_NODE,
  squad_uuid: () => NETHERLANDS,
  key: () => 'MAINTENANCE_MESSAGE',
  button_id: firstButton,
  page_id: makerAt('/pages/faq'),
  welcome_text_id: makerAt('/welcome-texts'),
  rule_id: async ({ api }) => (await api.put('/pages/service-rules', { content: 'No spam.' })).body.id,
  subscription_id: async ({ app, user }) => {
    const [row] = await app.db.sql<{ id: number }>('SELECT id FROM subscriptions WHERE user_id = $1::int', [user.id]);
    return row!.id;
  },
};

/** Templates are of games here, elsewhere of offers. */
const IN_CONTESTS: typeof BY_PARAMETER = { ...BY_PARAMETER, template_id: ({ app }) => templateOf(app, 'anagram') };

const aPinnedMessage = async ({ api }: Existing): Promise<number> => {
  const reply = await api.post('/pinned-messages', NEW_BODIES['/pinned-messages']!());
  if (reply.status >= 300) throw new Error(`/pinned-messages: ${reply.text}`);
  return reply.body.message.id;
};

/** Under `/main-menu` two names mean other things than elsewhere. */
const IN_MAIN_MENU: typeof BY_PARAMETER = {
  button_id: makerAt('/main-menu/buttons'),
  message_id: makerAt('/main-menu/messages'),
};

/** What the fake ban system knows. */
const IN_BAN_SYSTEM: typeof BY_PARAMETER = {
  email: () => 'busy@example.com',
  query: () => 'busy@example.com',
  node_name: () => 'node-1',
  key: () => 'max_ips',
};

/** A customer who can do most things: money on the balance and a subscription. */
export async function equip({ app, user }: Existing): Promise<void> {
  await topUp(app, user.id, 1_000_000);
  await aStoredSubscription(app, user.id);
}

function makerOf(path: string, name: string) {
  if (path.startsWith('/main-menu/')) return IN_MAIN_MENU[name];
  if (path.startsWith('/contests/')) return IN_CONTESTS[name];
  if (path.startsWith('/cabinet/admin/ban-system/')) return IN_BAN_SYSTEM[name];
  return path.includes('/pinned-messages/') && name === 'message_id' ? aPinnedMessage : BY_PARAMETER[name];
}

/** The path with things that exist in the place of the parameters known here. */
export async function existingPath(fixture: Existing, path: string): Promise<string> {
  let filled = path;
  for (const [, name] of path.matchAll(/\{([^}]+)\}/g)) {
    const make = makerOf(path, name!);
    if (make) filled = filled.replace(`{${name}}`, String(await make(fixture)));
  }
  return filled;
}
