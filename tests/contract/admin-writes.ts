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
  type Fixture,
  made,
} from './admin-write-samples.ts';
import { API_TOKEN_WRITES } from './api-token-writes.ts';
import { APPROVAL_WRITES } from './approval-writes.ts';
import { BAN_SYSTEM_WITHOUT_STATE, BAN_SYSTEM_WRITES } from './ban-system-writes.ts';
import { BRANDING_WRITES } from './branding-writes.ts';
import { BROADCAST_WRITES } from './broadcast-writes.ts';
import { CAMPAIGN_WRITES } from './campaign-writes.ts';
import { CHANNEL_WRITES } from './channel-writes.ts';
import { EMAIL_TEMPLATE_WRITES, EMAIL_TEMPLATES_WITHOUT_STATE } from './email-template-writes.ts';
import { LANDING_WRITES } from './landing-writes.ts';
import { PANEL_WRITES } from './panel-writes.ts';
import { PAYMENT_WRITES } from './payment-writes.ts';
import { PERSONAL_DATA_WRITES } from './personal-data-writes.ts';
import { PINNED_WRITES } from './pinned-writes.ts';
import { WITHDRAWAL_WRITES } from './withdrawal-writes.ts';

/** Operations without a state of ours that could be compared, and why. */
export const STATELESS: Record<string, string> = {
  ...EMAIL_TEMPLATES_WITHOUT_STATE,
  ...BAN_SYSTEM_WITHOUT_STATE,
  'POST /broadcasts/preview': 'counts users',
  'POST /broadcasts/email-preview': 'counts users',
};

const later = (fixture: Fixture, days: number) => addDays(fixture.app.clock.now(), days).toISOString();

type UserMaker = (fixture: Fixture) => Promise<{ id: number }>;

/** A request on a user. */
function onUser(make: UserMaker, rest: string, body?: unknown | ((fixture: Fixture) => unknown)): AdminWrite['request'] {
  return async (fixture) => {
    const { id } = await make(fixture);
    return { path: `/users/${id}${rest}`, body: typeof body === 'function' ? body(fixture) : body };
  };
}

const plain: UserMaker = ({ app }) => aUser(app);

/** A user whose subscription at the panel is not what the row says. */
const outOfStep: UserMaker = async (fixture) => {
  const user = await aPanelUser(fixture);
  const uuid = user.uuid;
  await fixture.app.ports.panel.updateUser({ uuid, expireAt: addDays(fixture.app.clock.now(), 77) });
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
    request: async (fixture) => {
      const user = await aUser(fixture.app);
      await fixture.boss.post(`${ADMIN}/users/${user.id}/block`);
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
    request: async (fixture) => {
      const { id, hwid } = await aDeviceOwner(fixture);
      return { path: `/users/${id}/devices/${hwid}` };
    },
  },
  'DELETE /users/{user_id}': { kind: 'change', request: onUser(plain, '') },
  'DELETE /users/{user_id}/full': { kind: 'deletion', request: onUser(plain, '/full') },
  'POST /users/{user_id}/reset-trial': {
    kind: 'deletion',
    request: async (fixture) => {
      const user = await aUser(fixture.app);
      await fixture.boss.post(`${ADMIN}/users/${user.id}/subscription`, { action: 'create', is_trial: true });
      return { path: `/users/${user.id}/reset-trial` };
    },
  },
  'POST /users/{user_id}/reset-subscription': { kind: 'deletion', request: onUser(aPanelUser, '/reset-subscription') },
  'POST /users/{user_id}/disable': { kind: 'change', request: onUser(plain, '/disable') },
  'POST /users/{user_id}/sync/from-panel': { kind: 'change', request: onUser(outOfStep, '/sync/from-panel') },
  'POST /users/{user_id}/sync/to-panel': { kind: 'change', request: onUser(outOfStep, '/sync/to-panel') },
};

const aTariff = (fixture: Fixture) => made(fixture, `${ADMIN}/tariffs`, { name: `Tariff ${unique()}` });

const CATALOG: Record<string, AdminWrite> = {
  'POST /tariffs': { kind: 'creation', request: async () => ({ path: '/tariffs', body: { name: `Tariff ${unique()}` } }) },
  'PUT /tariffs/order': {
    kind: 'change',
    request: async (fixture) => {
      const [first, second] = [await aTariff(fixture), await aTariff(fixture)];
      return { path: '/tariffs/order', body: { tariff_ids: [second, first] } };
    },
  },
  'PUT /tariffs/{tariff_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/tariffs/${await aTariff(fixture)}`, body: { name: `Renamed ${unique()}` } }),
  },
  'DELETE /tariffs/{tariff_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/tariffs/${await aTariff(fixture)}` }),
  },
  'POST /tariffs/{tariff_id}/toggle': {
    kind: 'change',
    request: async (fixture) => ({ path: `/tariffs/${await aTariff(fixture)}/toggle` }),
  },
  'POST /tariffs/{tariff_id}/trial': {
    kind: 'change',
    request: async (fixture) => ({ path: `/tariffs/${await aTariff(fixture)}/trial` }),
  },
  'POST /tariffs/{tariff_id}/sync-squads': {
    kind: 'summary',
    request: async (fixture) => ({ path: `/tariffs/${await aTariff(fixture)}/sync-squads` }),
  },
  'PUT /servers/{server_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/servers/${await aServer(fixture)}`, body: { price_kopeks: 12_300 } }),
  },
  'POST /servers/{server_id}/toggle': {
    kind: 'change',
    request: async (fixture) => ({ path: `/servers/${await aServer(fixture)}/toggle` }),
  },
  'POST /servers/{server_id}/trial': {
    kind: 'change',
    request: async (fixture) => ({ path: `/servers/${await aServer(fixture)}/trial` }),
  },
  'POST /servers/sync': { kind: 'summary', request: async () => ({ path: '/servers/sync' }) },
  'POST /promo-groups': {
    kind: 'creation',
    request: async () => ({ path: '/promo-groups', body: { name: `Group ${unique()}` } }),
  },
  'PATCH /promo-groups/{group_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/promo-groups/${await aGroup(fixture)}`, body: { server_discount_percent: 7 } }),
  },
  'DELETE /promo-groups/{group_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/promo-groups/${await aGroup(fixture)}` }),
  },
};

const aGroup = (fixture: Fixture) => made(fixture, `${ADMIN}/promo-groups`, { name: `Group ${unique()}` });

const roleBody = () => ({ name: `Role ${unique()}`, level: 10, permissions: ['users:read'] });
const policyBody = () => ({ name: `Policy ${unique()}`, effect: 'deny', resource: 'users', actions: ['delete'], conditions: {} });
const aRole = (fixture: Fixture) => made(fixture, `${ADMIN}/rbac/roles`, roleBody());
const aPolicy = async (fixture: Fixture) =>
  made(fixture, `${ADMIN}/rbac/policies`, { ...policyBody(), role_id: await aRole(fixture) });
const assignmentBody = async (fixture: Fixture) => ({ user_id: (await aUser(fixture.app)).id, role_id: await aRole(fixture) });

const oneRow = { rows: [{ id: 'main', max_per_row: 1, buttons: [{ id: 'home', type: 'builtin' }] }] };

const ACCESS: Record<string, AdminWrite> = {
  'POST /rbac/roles': { kind: 'creation', request: async () => ({ path: '/rbac/roles', body: roleBody() }) },
  'PUT /rbac/roles/{role_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/rbac/roles/${await aRole(fixture)}`, body: { level: 20 } }),
  },
  'DELETE /rbac/roles/{role_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/rbac/roles/${await aRole(fixture)}` }),
  },
  'POST /rbac/assignments': {
    kind: 'creation',
    request: async (fixture) => ({ path: '/rbac/assignments', body: await assignmentBody(fixture) }),
  },
  'DELETE /rbac/assignments/{assignment_id}': {
    kind: 'deletion',
    request: async (fixture) => ({
      path: `/rbac/assignments/${await made(fixture, `${ADMIN}/rbac/assignments`, await assignmentBody(fixture))}`,
    }),
  },
  'POST /rbac/policies': {
    kind: 'creation',
    request: async (fixture) => ({ path: '/rbac/policies', body: { ...policyBody(), role_id: await aRole(fixture) } }),
  },
  'PUT /rbac/policies/{policy_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/rbac/policies/${await aPolicy(fixture)}`, body: { priority: 9 } }),
  },
  'DELETE /rbac/policies/{policy_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/rbac/policies/${await aPolicy(fixture)}` }),
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
    request: async (fixture) => {
      await fixture.boss.put(`${ADMIN}/settings/MAINTENANCE_MESSAGE`, { value: 'Back soon' });
      return { path: '/settings/MAINTENANCE_MESSAGE' };
    },
  },
  'PUT /menu-layout': { kind: 'change', request: async () => ({ path: '/menu-layout', body: oneRow }) },
  'POST /menu-layout/reset': {
    kind: 'change',
    request: async (fixture) => {
      await fixture.boss.put(`${ADMIN}/menu-layout`, oneRow);
      return { path: '/menu-layout/reset' };
    },
  },
};

const codeBody = () => ({ code: `CODE${unique()}`, type: 'balance', balance_bonus_kopeks: 100 });
const prizeBody = () => ({ prize_type: 'balance_bonus', prize_value: 5, display_name: `P${unique()}`, prize_value_kopeks: 500 });
const aCode = (fixture: Fixture) => made(fixture, `${ADMIN}/promocodes`, codeBody());
const aPrize = (fixture: Fixture) => made(fixture, `${ADMIN}/wheel/prizes`, prizeBody());

const GROWTH: Record<string, AdminWrite> = {
  'POST /promocodes': { kind: 'creation', request: async () => ({ path: '/promocodes', body: codeBody() }) },
  'PATCH /promocodes/{promocode_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/promocodes/${await aCode(fixture)}`, body: { valid_until: later(fixture, 5) } }),
  },
  'DELETE /promocodes/{promocode_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/promocodes/${await aCode(fixture)}` }),
  },
  'POST /promocodes/deactivate-discount/{user_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/promocodes/deactivate-discount/${await aDiscountHolder(fixture)}` }),
  },
  'PUT /wheel/config': {
    kind: 'change',
    request: async () => ({ path: '/wheel/config', body: { name: `Wheel ${unique()}` } }),
  },
  'POST /wheel/prizes': { kind: 'creation', request: async () => ({ path: '/wheel/prizes', body: prizeBody() }) },
  'PUT /wheel/prizes/{prize_id}': {
    kind: 'change',
    request: async (fixture) => ({ path: `/wheel/prizes/${await aPrize(fixture)}`, body: { display_name: 'Other' } }),
  },
  'DELETE /wheel/prizes/{prize_id}': {
    kind: 'deletion',
    request: async (fixture) => ({ path: `/wheel/prizes/${await aPrize(fixture)}` }),
  },
  'POST /wheel/prizes/reorder': {
    kind: 'change',
    request: async (fixture) => {
      const [first, second] = [await aPrize(fixture), await aPrize(fixture)];
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
    request: async (fixture) => ({ path: `/tickets/${(await aTicket(fixture)).id}/reply`, body: { message: 'Here you are' } }),
  },
  'POST /tickets/{ticket_id}/status': {
    kind: 'change',
    request: async (fixture) => ({ path: `/tickets/${(await aTicket(fixture)).id}/status`, body: { status: 'closed' } }),
  },
  'POST /tickets/{ticket_id}/priority': {
    kind: 'change',
    request: async (fixture) => ({ path: `/tickets/${(await aTicket(fixture)).id}/priority`, body: { priority: 'urgent' } }),
  },
  'POST /tickets/notifications/{notification_id}/read': {
    kind: 'change',
    request: async (fixture) => ({ path: `/tickets/notifications/${(await aTicket(fixture)).notificationId}/read` }),
  },
  'POST /tickets/notifications/read-all': {
    kind: 'change',
    request: async (fixture) => {
      await aTicket(fixture);
      return { path: '/tickets/notifications/read-all' };
    },
  },
  'POST /tickets/notifications/ticket/{ticket_id}/read': {
    kind: 'change',
    request: async (fixture) => ({ path: `/tickets/notifications/ticket/${(await aTicket(fixture)).id}/read` }),
  },
};

/** By `METHOD path`; paths are given without the area's `/cabinet/admin`, those elsewhere whole. */
export const ADMIN_WRITES: Record<string, AdminWrite> = {
  'POST /backups': { kind: 'creation', request: async () => ({ path: '/backups' }) },
  ...API_TOKEN_WRITES,
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
  ...PERSONAL_DATA_WRITES,
  ...PINNED_WRITES,
  ...WITHDRAWAL_WRITES,
  ...APPROVAL_WRITES,
};
