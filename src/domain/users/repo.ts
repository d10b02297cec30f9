import type { Db } from '../../core/db/db.ts';
import { type AddValue, statementValues } from '../../core/db/statement-values.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { UserStatus } from '../identity/types.ts';
import { actualStatus } from '../subscriptions/rules/status.ts';
import type { SubscriptionStatus } from '../subscriptions/types.ts';
import { DEEP_OFFSET, findDayOfRow } from './day-repo.ts';
import type { SearchTerms, Slice, UserFilter, UserView } from './types.ts';

interface ViewRow {
  id: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  status: UserStatus;
  language: string;
  balanceKopeks: number;
  referralCode: string;
  referredById: number | null;
  hasHadPaidSubscription: boolean;
  hasMadeFirstTopup: boolean;
  createdAt: Date;
  updatedAt: Date;
  lastActivity: Date | null;
  groupId: number | null;
  groupName: string;
  serverDiscountPercent: number;
  trafficDiscountPercent: number;
  deviceDiscountPercent: number;
  applyDiscountsToAddons: boolean;
  subscriptionId: number | null;
  subscriptionStatus: SubscriptionStatus;
  isTrial: boolean;
  startDate: Date;
  endDate: Date;
  trafficLimitGb: number;
  trafficUsedGb: number;
  deviceLimit: number;
  autopayEnabled: boolean;
  autopayDaysBefore: number | null;
  subscriptionUrl: string | null;
  subscriptionCryptoLink: string | null;
  connectedSquads: string[];
}

const VIEW_COLUMNS = `u.id, u.messenger_id, u.username, u.first_name, u.last_name, u.status, u.language, u.balance_kopeks, u.referral_code,
  u.referred_by_id, u.has_had_paid_subscription, u.has_made_first_topup, u.created_at, u.updated_at, u.last_activity,
  g.id AS group_id, g.name AS group_name, g.server_discount_percent, g.traffic_discount_percent, g.device_discount_percent,
  g.apply_discounts_to_addons, s.id AS subscription_id, s.status AS subscription_status, s.is_trial, s.start_date, s.end_date,
  s.traffic_limit_gb, s.traffic_used_gb, s.device_limit, s.autopay_enabled, s.autopay_days_before, s.subscription_url,
  s.subscription_crypto_link, s.connected_squads`;

/** What hangs on the users of a page comes with them in one statement (spec 01 H24). */
const VIEW_JOINS = 'LEFT JOIN promo_groups g ON g.id = u.promo_group_id LEFT JOIN subscriptions s ON s.user_id = u.id';

/** The indexed text of a user, see prisma/sql/user-search.sql. */
const SEARCH_TEXT = 'user_search_text(u.username::text, u.first_name::text, u.last_name::text, u.referral_code::text)';

const NEWEST_FIRST = 'ORDER BY u.created_at DESC, u.id DESC';
const OLDEST_FIRST = 'ORDER BY u.created_at, u.id';

function toView(row: ViewRow, now: Date): UserView {
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
    promoGroup:
      row.groupId === null
        ? null
        : {
            id: row.groupId,
            name: row.groupName,
            serverDiscountPercent: row.serverDiscountPercent,
            trafficDiscountPercent: row.trafficDiscountPercent,
            deviceDiscountPercent: row.deviceDiscountPercent,
            applyDiscountsToAddons: row.applyDiscountsToAddons,
          },
    subscription:
      row.subscriptionId === null
        ? null
        : {
            id: row.subscriptionId,
            status: row.subscriptionStatus,
            actualStatus: actualStatus({ status: row.subscriptionStatus, endDate: row.endDate }, now),
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
          },
  };
}

/** Conditions on `u`; only those that are set, so that each combination gets its own plan and index. */
function conditions(filter: UserFilter, add: AddValue): string[] {
  return [
    ...(filter.status === null ? [] : [`u.status = ${add(filter.status)}`]),
    // bigint, because a client may send a number that no id can be.
    ...(filter.promoGroupId === null ? [] : [`u.promo_group_id = ${add(filter.promoGroupId)}::bigint`]),
  ];
}

function where(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`;
}

/** The user by messenger id, else by internal id (spec 01 H23). @param internalId null when the number cannot be one */
export async function findUserId(db: Db, messengerId: number, internalId: number | null): Promise<number | null> {
  const [row] = await db.sql<{ id: number | null }>(
    'SELECT coalesce((SELECT id FROM users WHERE messenger_id = $1::bigint), (SELECT id FROM users WHERE id = $2::int)) AS id',
    [messengerId, internalId],
  );
  return row?.id ?? null;
}

/** The same choice as `findUserId`, with everything that is shown of the user. */
export async function findViewByEitherId(
  db: Db,
  messengerId: number,
  internalId: number | null,
  now: Date,
): Promise<UserView | null> {
  const [row] = await db.sql<ViewRow>(
    `SELECT ${VIEW_COLUMNS} FROM users u ${VIEW_JOINS}
     WHERE u.id = coalesce((SELECT id FROM users WHERE messenger_id = $1::bigint), $2::int)`,
    [messengerId, internalId],
  );
  return row ? toView(row, now) : null;
}

export async function findViewById(db: Db, id: number, now: Date): Promise<UserView | null> {
  const [row] = await db.sql<ViewRow>(`SELECT ${VIEW_COLUMNS} FROM users u ${VIEW_JOINS} WHERE u.id = $1::int`, [id]);
  return row ? toView(row, now) : null;
}

export async function findViewByMessengerId(db: Db, messengerId: number, now: Date): Promise<UserView | null> {
  const [row] = await db.sql<ViewRow>(`SELECT ${VIEW_COLUMNS} FROM users u ${VIEW_JOINS} WHERE u.messenger_id = $1::bigint`, [
    messengerId,
  ]);
  return row ? toView(row, now) : null;
}

/** All users, and those that the filter leaves; exact, from the counters of prisma/sql/user-counters.sql. */
export async function countUsers(db: Db, filter: UserFilter): Promise<{ everyone: number; listed: number }> {
  const { values, add } = statementValues();
  const chosen = conditions(filter, add).join(' AND ') || 'true';
  const [row] = await db.sql<{ everyone: number; listed: number }>(
    `SELECT coalesce(sum(u.users), 0)::int AS everyone, coalesce(sum(u.users) FILTER (WHERE ${chosen}), 0)::int AS listed
     FROM user_counters u`,
    values,
  );
  return row!;
}

/**
 * A page far down is reached from its day of creation; that of a promo group, for which days are not counted, from the old end when it
 * lies in the far half.
 * @param listed how many users the filter leaves
 */
export async function listNewest(db: Db, filter: UserFilter, slice: Slice, listed: number, now: Date): Promise<UserView[]> {
  const rest = listed - slice.offset;
  if (rest <= 0) return [];
  const isDeep = slice.offset >= DEEP_OFFSET && filter.promoGroupId === null;
  const day = isDeep ? await findDayOfRow(db, slice.offset, filter.status) : null;
  const isFarHalf = day === null && slice.offset > rest;
  const limit = Math.min(slice.limit, rest);
  const { values, add } = statementValues();
  const chosen = [...conditions(filter, add), ...(day ? [`u.created_at < ${add(day.end)}::timestamptz`] : [])];
  const rows = await db.sql<ViewRow>(
    `WITH page AS MATERIALIZED (
       SELECT u.id FROM users u ${where(chosen)} ${isFarHalf ? OLDEST_FIRST : NEWEST_FIRST}
       LIMIT ${add(limit)}::int OFFSET ${add(isFarHalf ? rest - limit : slice.offset - (day?.skipped ?? 0))}::int)
     SELECT ${VIEW_COLUMNS} FROM page JOIN users u ON u.id = page.id ${VIEW_JOINS} ${NEWEST_FIRST}`,
    values,
  );
  return rows.map((row) => toView(row, now));
}

/** Collects all matches, then gives the page and their exact number. `useIndex`: by the search index, else by reading every user. */
export async function collectMatches(
  db: Db,
  terms: SearchTerms,
  filter: UserFilter,
  slice: Slice,
  useIndex: boolean,
  now: Date,
): Promise<{ users: UserView[]; total: number }> {
  const { values, add } = statementValues();
  const filters = conditions(filter, add);
  const like = `${SEARCH_TEXT} LIKE lower(${add(terms.pattern)})`;
  const isNumber = `(u.id = ${add(terms.id)}::int OR u.messenger_id = ${add(terms.messengerId)}::bigint)`;
  const byText = useIndex ? [`search_windows(${SEARCH_TEXT}) @@ search_query(${add(terms.text)})`, like] : [like];
  const rows = await db.sql<Partial<ViewRow> & { total: number }>(
    `WITH found AS MATERIALIZED (
       SELECT u.id, u.created_at FROM users u ${where([...byText, ...filters])}
       UNION SELECT u.id, u.created_at FROM users u ${where([isNumber, ...filters])}),
     page AS MATERIALIZED (
       SELECT u.id FROM found u ${NEWEST_FIRST} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${VIEW_COLUMNS}, n.total FROM (SELECT count(*)::int AS total FROM found) n LEFT JOIN page ON true
     LEFT JOIN users u ON u.id = page.id ${VIEW_JOINS} ${NEWEST_FIRST}`,
    values,
  );
  // An empty page is one row with the total alone.
  const found = rows.filter((row): row is ViewRow & { total: number } => typeof row.id === 'number');
  return { users: found.map((row) => toView(row, now)), total: rows[0]!.total };
}

/** The page of matches alone, by going down the list until it is full. */
export async function walkToMatches(
  db: Db,
  terms: SearchTerms,
  filter: UserFilter,
  slice: Slice,
  now: Date,
): Promise<UserView[]> {
  const { values, add } = statementValues();
  // As a CASE the condition counts as one that half of the rows pass. The planner takes a LIKE for rare and would then read and
  // sort the whole table (0.6 s for a million users) instead of walking down the index of the list.
  const matches = `CASE WHEN ${SEARCH_TEXT} LIKE lower(${add(terms.pattern)}) OR u.id = ${add(terms.id)}::int
    OR u.messenger_id = ${add(terms.messengerId)}::bigint THEN true ELSE false END`;
  const rows = await db.sql<ViewRow>(
    `WITH page AS MATERIALIZED (
       SELECT u.id FROM users u ${where([matches, ...conditions(filter, add)])} ${NEWEST_FIRST}
       LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${VIEW_COLUMNS} FROM page JOIN users u ON u.id = page.id ${VIEW_JOINS} ${NEWEST_FIRST}`,
    values,
  );
  return rows.map((row) => toView(row, now));
}

/**
 * Which share of all users contains the text, and which of those that the filter leaves, 0..1; judged by whole pages of the
 * table picked at random.
 * @param percent of the table to look at
 */
export async function sampleShares(
  db: Db,
  terms: SearchTerms,
  filter: UserFilter,
  percent: number,
): Promise<{ everyone: number; listed: number }> {
  const { values, add } = statementValues();
  const [row] = await db.sql<{ everyone: number | null; listed: number | null }>(
    `SELECT avg(u.is_match)::float8 AS everyone, avg(u.is_match) FILTER (WHERE ${conditions(filter, add).join(' AND ') || 'true'})::float8 AS listed
     FROM (SELECT u.status, u.promo_group_id, (${SEARCH_TEXT} LIKE lower(${add(terms.pattern)}))::int AS is_match
           FROM users u TABLESAMPLE SYSTEM (${add(percent)}::real)) u`,
    values,
  );
  const everyone = row?.everyone ?? 0;
  return { everyone, listed: row?.listed ?? everyone };
}

/** What decides about a change of a user; the row is locked. */
export async function lockUserStatus(db: Db, id: number): Promise<UserStatus | null> {
  const [row] = await db.sql<{ status: UserStatus }>('SELECT status FROM users WHERE id = $1::int FOR NO KEY UPDATE', [id]);
  return row?.status ?? null;
}

/** Whether the group exists; held until the end of the transaction, so that a user cannot be put into a deleted one. */
export async function holdPromoGroup(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE id = $1::bigint FOR KEY SHARE', [id]);
  return rows.length > 0;
}

/** Whether the user exists; held like `holdPromoGroup`. */
export async function holdReferrer(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql<{ id: number }>('SELECT id FROM users WHERE id = $1::bigint FOR KEY SHARE', [id]);
  return rows.length > 0;
}

export async function isReferralCodeTaken(db: Db, code: string, exceptUserId: number): Promise<boolean> {
  const rows = await db.sql<{ id: number }>('SELECT id FROM users WHERE referral_code = $1 AND id <> $2::int', [
    code,
    exceptUserId,
  ]);
  return rows.length > 0;
}

export type UserColumns = Pick<
  Prisma.UserUncheckedUpdateInput,
  | 'username'
  | 'firstName'
  | 'lastName'
  | 'language'
  | 'promoGroupId'
  | 'referralCode'
  | 'hasHadPaidSubscription'
  | 'hasMadeFirstTopup'
  | 'updatedAt'
>;

export async function updateColumns(db: Db, id: number, columns: UserColumns): Promise<void> {
  await db.prisma.user.update({ where: { id }, data: columns, select: { id: true } });
}

/** Makes the group the user's only one, so that it is the primary one too. */
export async function replaceMemberships(db: Db, userId: number, promoGroupId: number, now: Date): Promise<void> {
  await db.prisma.userPromoGroup.deleteMany({ where: { userId, promoGroupId: { not: promoGroupId } } });
  await db.prisma.userPromoGroup.createMany({
    data: [{ userId, promoGroupId, assignedBy: 'admin', assignedAt: now }],
    skipDuplicates: true,
  });
}
