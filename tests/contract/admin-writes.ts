/**
 * One successful request for every operation by which administrators write. An operation that is served and not listed here fails
 * the test of the audit log. A slice with many operations keeps its own table in a file beside this one and spreads it in below.
 */
import { addDays } from '../../src/core/clock.ts';
import { aUser, unique } from '../support/builders.ts';
import {
  ADMIN,
  type AdminWrite,
  aDeviceOwner,
  aDiscountHolder,
  aPanelUser,
  aServer,
  aTicket,
  made,
  type Stage,
} from './admin-write-samples.ts';
import { BAN_SYSTEM_WITHOUT_STATE, BAN_SYSTEM_WRITES } from './ban-system-writes.ts';
import { BRANDING_WRITES } from './branding-writes.ts';
import { BROADCAST_WRITES } from './broadcast-writes.ts';
import { CAMPAIGN_WRITES } from './campaign-writes.ts';
import { CHANNEL_WRITES } from './channel-writes.ts';
import { EMAIL_TEMPLATE_WRITES, EMAIL_TEMPLATES_WITHOUT_STATE } from './email-template-writes.ts';
import { LANDING_WRITES } from './landing-writes.ts';
import { PANEL_WRITES } from './panel-writes.ts';
import { PAYMENT_WRITES } from './payment-writes.ts';
import { PINNED_WRITES } from './pinned-writes.ts';
import { WITHDRAWAL_WRITES } from './withdrawal-writes.ts';

/** Operations without a state of ours that could be told, and why. */
export const STATELESS: Record<string, string> = {
  ...EMAIL_TEMPLATES_WITHOUT_STATE,
  ...BAN_SYSTEM_WITHOUT_STATE,
  'POST /broadcasts/preview': 'counts users',
  'POST /broadcasts/email-preview': 'counts users',
};

const later = (stage: Stage, days: number) => addDays(stage.app.clock.now(), days).toISOString();

type UserMaker = (stage: Stage) => Promise<{ id: number }>;

/** A request on a user. */
function onUser(make: UserMaker, rest: string, body?: unknown | ((stage: Stage) => unknown)): AdminWrite['request'] {
  return async (stage) => {
    const { id } = await make(stage);
    return { path: `/users/${id}${rest}`, body: typeof body === 'function' ? body(stage) : body };
  };
}

const plain: UserMaker = ({ app }) => aUser(app);

/** A user whose subscription at the panel is not what the row says. */
const outOfStep: UserMaker = async (stage) => {
  const user = await aPanelUser(stage);
  const uuid = user.uuid;
  await stage.app.ports.panel.updateUser({ uuid, expireAt: addDays(stage.app.clock.now(), 77) });
  return user;
};

const USERS: Record<string, AdminWrite> = {
  'POST /users/{user_id}/balance': { kind: 'change', request: onUser(plain, '/balance', { amount_kopeks: 500 }) },
  'POST /users/{user_id}/subscription': {
    kind: 'change',
    request: onUser(aPanelUser, '/subscription', { action: 'extend', days: 3 }),
  },
  'POST /users/{user_id}/status': { kind: 'change', request: onUser(plain, '/status', { status: 'blocked' }) },
  'POST /users/{user_id}/block': { kind: 'change', request: onUser(plain, '/block') },
  'POST /users/{user_id}/unblock': {
    kind: 'change',
    request: async (stage) => {
      const user = await aUser(stage.app);
      await stage.boss.post(`${ADMIN}/users/${user.id}/block`);
      return { path: `/users/${user.id}/unblock` };
    },
  },
  'POST /users/{user_id}/restrictions': { kind: 'change', request: onUser(plain, '/restrictions', { restriction_topup: true }) },
  'POST /users/{user_id}/promo-group': { kind: 'change', request: onUser(plain, '/promo-group', { promo_group_id: null }) },
  'POST /users/{user_id}/referral-commission': {
    kind: 'change',
    request: onUser(plain, '/referral-commission', { commission_percent: 33 }),
  },
  'DELETE /users/{user_id}/devices': { kind: 'change', request: onUser(aDeviceOwner, '/devices') },
  'DELETE /users/{user_id}/devices/{hwid}': {
    kind: 'deletion',
    request: async (stage) => {
      const { id, hwid } = await aDeviceOwner(stage);
      return { path: `/users/${id}/devices/${hwid}` };
    },
  },
  'DELETE /users/{user_id}': { kind: 'change', request: onUser(plain, '') },
  'DELETE /users/{user_id}/full': { kind: 'deletion', request: onUser(plain, '/full') },
  'POST /users/{user_id}/reset-trial': {
    kind: 'deletion',
    request: async (stage) => {
      const user = await aUser(stage.app);
      await stage.boss.post(`${ADMIN}/users/${user.id}/subscription`, { action: 'create', is_trial: true });
      return { path: `/users/${user.id}/reset-trial` };
    },
  },
  'POST /users/{user_id}/reset-subscription': { kind: 'deletion', request: onUser(aPanelUser, '/reset-subscription') },
  'POST /users/{user_id}/disable': { kind: 'change', request: onUser(plain, '/disable') },
  'POST /users/{user_id}/sync/from-panel': { kind: 'change', request: onUser(outOfStep, '/sync/from-panel') },
  'POST /users/{user_id}/sync/to-panel': { kind: 'change', request: onUser(outOfStep, '/sync/to-panel') },
};

const aTariff = (stage: Stage) => made(stage, `${ADMIN}/tariffs`, { name: `Tariff ${unique()}` });

const CATALOG: Record<string, AdminWrite> = {
  'POST /tariffs': { kind: 'creation', request: async () => ({ path: '/tariffs', body: { name: `Tariff ${unique()}` } }) },
  'PUT /tariffs/order': {
    kind: 'change',
    request: async (stage) => {
      const [first, second] = [await aTariff(stage), await aTariff(stage)];
      return { path: '/tariffs/order', body: { tariff_ids: [second, first] } };
    },
  },
  'PUT /tariffs/{tariff_id}': {
    kind: 'change',
    request: async (stage) => ({ path: `/tariffs/${await aTariff(stage)}`, body: { name: `Renamed ${unique()}` } }),
  },
  'DELETE /tariffs/{tariff_id}': { kind: 'deletion', request: async (stage) => ({ path: `/tariffs/${await aTariff(stage)}` }) },
  'POST /tariffs/{tariff_id}/toggle': {
    kind: 'change',
    request: async (stage) => ({ path: `/tariffs/${await aTariff(stage)}/toggle` }),
  },
  'POST /tariffs/{tariff_id}/trial': {
    kind: 'change',
    request: async (stage) => ({ path: `/tariffs/${await aTariff(stage)}/trial` }),
  },
  'POST /tariffs/{tariff_id}/sync-squads': {
    kind: 'summary',
    request: async (stage) => ({ path: `/tariffs/${await aTariff(stage)}/sync-squads` }),
  },
  'PUT /servers/{server_id}': {
    kind: 'change',
    request: async (stage) => ({ path: `/servers/${await aServer(stage)}`, body: { price_kopeks: 12_300 } }),
  },
  'POST /servers/{server_id}/toggle': {
    kind: 'change',
    request: async (stage) => ({ path: `/servers/${await aServer(stage)}/toggle` }),
  },
  'POST /servers/{server_id}/trial': {
    kind: 'change',
    request: async (stage) => ({ path: `/servers/${await aServer(stage)}/trial` }),
  },
  'POST /servers/sync': { kind: 'summary', request: async () => ({ path: '/servers/sync' }) },
  'POST /promo-groups': {
    kind: 'creation',
    request: async () => ({ path: '/promo-groups', body: { name: `Group ${unique()}` } }),
  },
  'PATCH /promo-groups/{group_id}': {
    kind: 'change',
    request: async (stage) => ({ path: `/promo-groups/${await aGroup(stage)}`, body: { server_discount_percent: 7 } }),
  },
  'DELETE /promo-groups/{group_id}': {
    kind: 'deletion',
    request: async (stage) => ({ path: `/promo-groups/${await aGroup(stage)}` }),
  },
};

const aGroup = (stage: Stage) => made(stage, `${ADMIN}/promo-groups`, { name: `Group ${unique()}` });

const roleBody = () => ({ name: `Role ${unique()}`, level: 10, permissions: ['users:read'] });
const policyBody = () => ({ name: `Policy ${unique()}`, effect: 'deny', resource: 'users', actions: ['delete'], conditions: {} });
const aRole = (stage: Stage) => made(stage, `${ADMIN}/rbac/roles`, roleBody());
const aPolicy = async (stage: Stage) => made(stage, `${ADMIN}/rbac/policies`, { ...policyBody(), role_id: await aRole(stage) });
const assignmentBody = async (stage: Stage) => ({ user_id: (await aUser(stage.app)).id, role_id: await aRole(stage) });

const oneRow = { rows: [{ id: 'main', max_per_row: 1, buttons: [{ id: 'home', type: 'builtin' }] }] };

const ACCESS: Record<string, AdminWrite> = {
  'POST /rbac/roles': { kind: 'creation', request: async () => ({ path: '/rbac/roles', body: roleBody() }) },
  'PUT /rbac/roles/{role_id}': {
    kind: 'change',
    request: async (stage) => ({ path: `/rbac/roles/${await aRole(stage)}`, body: { level: 20 } }),
  },
  'DELETE /rbac/roles/{role_id}': {
    kind: 'deletion',
    request: async (stage) => ({ path: `/rbac/roles/${await aRole(stage)}` }),
  },
  'POST /rbac/assignments': {
    kind: 'creation',
    request: async (stage) => ({ path: '/rbac/assignments', body: await assignmentBody(stage) }),
  },
  'DELETE /rbac/assignments/{assignment_id}': {
    kind: 'deletion',
    request: async (stage) => ({
      path: `/rbac/assignments/${await made(stage, `${ADMIN}/rbac/assignments`, await assignmentBody(stage))}`,
    }),
  },
  'POST /rbac/policies': {
    kind: 'creation',
    request: async (stage) => ({ path: '/rbac/policies', body: { ...policyBody(), role_id: await aRole(stage) } }),
  },
  'PUT /rbac/policies/{policy_id}': {
    kind: 'change',
    request: async (stage) => ({ path: `/rbac/policies/${await aPolicy(stage)}`, body: { priority: 9 } }),
  },
  'DELETE /rbac/policies/{policy_id}': {
    kind: 'deletion',
    request: async (stage) => ({ path: `/rbac/policies/${await aPolicy(stage)}` }),
  },
  'PUT /apps/vpnpanel/uuid': {
    kind: 'change',
    request: async () => ({
      path: '/apps/vpnpanel/uuid',
      body: { uuid: `00000000-0000-4000-8000-${String(unique()).padStart(12, '0')}` },
    }),
  },
  'POST /traffic/export-csv': {
    kind: 'summary',
    request: async () => ({ path: '/traffic/export-csv', body: {} }),
  },
  'PUT /settings/{key}': {
    kind: 'change',
    request: async () => ({ path: '/settings/MAINTENANCE_MESSAGE', body: { value: `Back soon ${unique()}` } }),
  },
  'DELETE /settings/{key}': {
    kind: 'change',
    request: async (stage) => {
      await stage.boss.put(`${ADMIN}/settings/MAINTENANCE_MESSAGE`, { value: 'Back soon' });
      return { path: '/settings/MAINTENANCE_MESSAGE' };
    },
  },
  'PUT /menu-layout': { kind: 'change', request: async () => ({ path: '/menu-layout', body: oneRow }) },
  'POST /menu-layout/reset': {
    kind: 'change',
    request: async (stage) => {
      await stage.boss.put(`${ADMIN}/menu-layout`, oneRow);
      return { path: '/menu-layout/reset' };
    },
  },
};

const codeBody = () => ({ code: `CODE${unique()}`, type: 'balance', balance_bonus_kopeks: 100 });
const prizeBody = () => ({ prize_type: 'balance_bonus', prize_value: 5, display_name: `P${unique()}`, prize_value_kopeks: 500 });
const aCode = (stage: Stage) => made(stage, `${ADMIN}/promocodes`, codeBody());
const aPrize = (stage: Stage) => made(stage, `${ADMIN}/wheel/prizes`, prizeBody());

const GROWTH: Record<string, AdminWrite> = {
  'POST /promocodes': { kind: 'creation', request: async () => ({ path: '/promocodes', body: codeBody() }) },
  'PATCH /promocodes/{promocode_id}': {
    kind: 'change',
    request: async (stage) => ({ path: `/promocodes/${await aCode(stage)}`, body: { valid_until: later(stage, 5) } }),
  },
  'DELETE /promocodes/{promocode_id}': {
    kind: 'deletion',
    request: async (stage) => ({ path: `/promocodes/${await aCode(stage)}` }),
  },
  'POST /promocodes/deactivate-discount/{user_id}': {
    kind: 'deletion',
    request: async (stage) => ({ path: `/promocodes/deactivate-discount/${await aDiscountHolder(stage)}` }),
  },
  'PUT /wheel/config': {
    kind: 'change',
    request: async () => ({ path: '/wheel/config', body: { name: `Wheel ${unique()}` } }),
  },
  'POST /wheel/prizes': { kind: 'creation', request: async () => ({ path: '/wheel/prizes', body: prizeBody() }) },
  'PUT /wheel/prizes/{prize_id}': {
    kind: 'change',
    request: async (stage) => ({ path: `/wheel/prizes/${await aPrize(stage)}`, body: { display_name: 'Other' } }),
  },
  'DELETE /wheel/prizes/{prize_id}': {
    kind: 'deletion',
    request: async (stage) => ({ path: `/wheel/prizes/${await aPrize(stage)}` }),
  },
  'POST /wheel/prizes/reorder': {
    kind: 'change',
    request: async (stage) => {
      const [first, second] = [await aPrize(stage), await aPrize(stage)];
      return { path: '/wheel/prizes/reorder', body: { prize_ids: [second, first] } };
    },
  },
};

const SUPPORT: Record<string, AdminWrite> = {
  'PATCH /tickets/settings': {
    kind: 'change',
    request: async () => ({ path: '/tickets/settings', body: { sla_minutes: 6 + (unique() % 50) } }),
  },
  'POST /tickets/{ticket_id}/reply': {
    kind: 'change',
    request: async (stage) => ({ path: `/tickets/${(await aTicket(stage)).id}/reply`, body: { message: 'Here you are' } }),
  },
  'POST /tickets/{ticket_id}/status': {
    kind: 'change',
    request: async (stage) => ({ path: `/tickets/${(await aTicket(stage)).id}/status`, body: { status: 'closed' } }),
  },
  'POST /tickets/{ticket_id}/priority': {
    kind: 'change',
    request: async (stage) => ({ path: `/tickets/${(await aTicket(stage)).id}/priority`, body: { priority: 'urgent' } }),
  },
  'POST /tickets/notifications/{notification_id}/read': {
    kind: 'change',
    request: async (stage) => ({ path: `/tickets/notifications/${(await aTicket(stage)).notificationId}/read` }),
  },
  'POST /tickets/notifications/read-all': {
    kind: 'change',
    request: async (stage) => {
      await aTicket(stage);
      return { path: '/tickets/notifications/read-all' };
    },
  },
  'POST /tickets/notifications/ticket/{ticket_id}/read': {
    kind: 'change',
    request: async (stage) => ({ path: `/tickets/notifications/ticket/${(await aTicket(stage)).id}/read` }),
  },
};

/** By `METHOD path`; paths are told without the area's `/cabinet/admin`, those elsewhere whole. */
export const ADMIN_WRITES: Record<string, AdminWrite> = {
  ...USERS,
  ...CATALOG,
  ...ACCESS,
  ...GROWTH,
  ...SUPPORT,
  ...BRANDING_WRITES,
  ...BROADCAST_WRITES,
  ...CAMPAIGN_WRITES,
  ...LANDING_WRITES,
  ...PAYMENT_WRITES,
  ...CHANNEL_WRITES,
  ...EMAIL_TEMPLATE_WRITES,
  ...BAN_SYSTEM_WRITES,
  ...PANEL_WRITES,
  ...PINNED_WRITES,
  ...WITHDRAWAL_WRITES,
};
