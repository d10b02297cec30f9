import { columns, type RowOf, timestampOfJson } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { fieldOf } from '../../../core/db/sql-runner.ts';
import { actualStatus } from '../../subscriptions/rules/status.ts';
import type { SubscriptionStatus } from '../../subscriptions/types.ts';
import type { GroupView, SubscriptionView, UserView } from '../types.ts';

const USER = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'status', 'language', 'balanceKopeks', 'referralCode'] as const),
  ...(['referredById', 'hasHadPaidSubscription', 'hasMadeFirstTopup', 'createdAt', 'updatedAt', 'lastActivity'] as const),
]);
const GROUP = columns('PromoGroup', [
  ...(['serverDiscountPercent', 'trafficDiscountPercent', 'deviceDiscountPercent', 'applyDiscountsToAddons'] as const),
]);
const SUBSCRIPTION = columns('Subscription', [
  ...(['isTrial', 'startDate', 'endDate', 'trafficLimitGb', 'trafficUsedGb', 'deviceLimit', 'autopayEnabled'] as const),
  ...(['autopayDaysBefore', 'subscriptionUrl', 'subscriptionCryptoLink', 'connectedSquads'] as const),
]);

/** The columns of groups and subscriptions are null where the user has none. */
export type ViewRow = RowOf<typeof USER> &
  RowOf<typeof GROUP> &
  RowOf<typeof SUBSCRIPTION> & {
    groupId: number | null;
    groupName: string;
    subscriptionId: number | null;
    subscriptionStatus: SubscriptionStatus;
  };

export const VIEW_COLUMNS = `${USER.of('u')}, g.id AS group_id, g.name AS group_name, ${GROUP.of('g')},
  s.id AS subscription_id, s.status AS subscription_status, ${SUBSCRIPTION.of('s')}`;

/** Group and subscription of all users of a page come in the same statement (spec 01 H24). */
export const VIEW_JOINS = 'LEFT JOIN promo_groups g ON g.id = u.promo_group_id LEFT JOIN subscriptions s ON s.user_id = u.id';

const TIMESTAMPS: ReadonlySet<string> = new Set<keyof ViewRow>([
  ...(['createdAt', 'updatedAt', 'lastActivity', 'startDate', 'endDate'] as const),
]);

/** The row that the SQL function `user_view` made JSON of. */
export function viewRowOf(json: object): ViewRow {
  const row: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(json)) {
    const field = fieldOf(column);
    row[field] = typeof value === 'string' && TIMESTAMPS.has(field) ? timestampOfJson(value) : value;
  }
  return row as ViewRow;
}

/** Field by field: a page of users takes ten times the CPU when the fields are copied in a loop, and lists are read often. */
export function toView(row: ViewRow, now: Date): UserView {
  return {
    id: row.id,
    messengerId: row.messengerId,
    username: row.username,
    firstName: row.firstName,
    lastName: row.lastName,
    status: row.status,
    language: row.language,
    balanceKopeks: row.balanceKopeks,
    referralCode: row.referralCode,
    referredById: row.referredById,
    hasHadPaidSubscription: row.hasHadPaidSubscription,
    hasMadeFirstTopup: row.hasMadeFirstTopup,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastActivity: row.lastActivity,
    promoGroup: row.groupId === null ? null : groupOf(row, row.groupId),
    subscription: row.subscriptionId === null ? null : subscriptionOf(row, row.subscriptionId, now),
  };
}

function groupOf(row: ViewRow, id: number): GroupView {
  return {
    id,
    name: row.groupName,
    serverDiscountPercent: row.serverDiscountPercent,
    trafficDiscountPercent: row.trafficDiscountPercent,
    deviceDiscountPercent: row.deviceDiscountPercent,
    applyDiscountsToAddons: row.applyDiscountsToAddons,
  };
}

function subscriptionOf(row: ViewRow, id: number, now: Date): SubscriptionView {
  const { subscriptionStatus: status } = row;
  return {
    id,
    status,
    actualStatus: actualStatus({ status, endDate: row.endDate }, now),
    isTrial: row.isTrial,
    startDate: row.startDate,
    endDate: row.endDate,
    trafficLimitGb: row.trafficLimitGb,
    trafficUsedGb: row.trafficUsedGb,
    deviceLimit: row.deviceLimit,
    autopayEnabled: row.autopayEnabled,
    autopayDaysBefore: row.autopayDaysBefore,
    subscriptionUrl: row.subscriptionUrl,
    subscriptionCryptoLink: row.subscriptionCryptoLink,
    connectedSquads: row.connectedSquads,
  };
}

/** SQL: `u` is no erased account, which no list and no page of users shows (spec 10 U8). */
export const NOT_ERASED = "u.referral_code <> 'erased:' || u.id";

/** The user by messenger id, else by internal id (spec 01 H23). @param internalId null when the number cannot be one */
export async function findUserId(db: Db, messengerId: number, internalId: number | null): Promise<number | null> {
  const [row] = await db.sql<{ id: number | null }>(
    `SELECT coalesce((SELECT id FROM users WHERE messenger_id = $1::bigint), (SELECT u.id FROM users u WHERE u.id = $2::int AND ${NOT_ERASED})) AS id`,
    [messengerId, internalId],
  );
  return row?.id ?? null;
}

/** The same choice as `findUserId`, with everything that is shown of the user. */
export function findViewByEitherId(db: Db, messengerId: number, internalId: number | null, now: Date): Promise<UserView | null> {
  const isUser = 'u.id = coalesce((SELECT id FROM users WHERE messenger_id = $1::bigint), $2::int)';
  return findView(db, isUser, [messengerId, internalId], now);
}

export function findViewById(db: Db, id: number, now: Date): Promise<UserView | null> {
  return findView(db, 'u.id = $1::int', [id], now);
}

export function findViewByMessengerId(db: Db, messengerId: number, now: Date): Promise<UserView | null> {
  return findView(db, 'u.messenger_id = $1::bigint', [messengerId], now);
}

async function findView(db: Db, condition: string, values: readonly unknown[], now: Date): Promise<UserView | null> {
  const [row] = await db.sql<ViewRow>(
    `SELECT ${VIEW_COLUMNS} FROM users u ${VIEW_JOINS} WHERE ${condition} AND ${NOT_ERASED}`,
    values,
  );
  return row ? toView(row, now) : null;
}
